// Warnings shown before a command is approved, by program and arguments. Data, and the few checks of arguments it needs. Can only add a
// warning.

import type { ToolClass } from '../../contracts/tools.ts';

export interface Risk {
  readonly class: Extract<ToolClass, 'destructive' | 'credential' | 'network' | 'exec'>;
  readonly sentence: string;
  /** The risk with the objects of the command, in words that continue "It ". Without it, `sentence` is used. */
  readonly deed?: (args: readonly string[]) => string | null;
  /** The part of the sentence that `deed` does not say; by default, all of it. */
  readonly rest?: string;
  /** The place the command acts on ("context prod, namespace web"), added to the sentence. */
  readonly place?: (args: readonly string[]) => string;
}

export interface RiskRule extends Risk {
  readonly programs: readonly string[];
  readonly when?: (args: readonly string[]) => boolean;
}

const programs = (names: string): readonly string[] => names.split(' ');

/** Returns whether a short flag is in any bundle, or a long flag is present, in full or abbreviated. */
export function hasFlag(args: readonly string[], letters: string, ...longs: readonly string[]): boolean {
  return args.some((argument) => {
    if (argument.startsWith('--')) {
      const name = argument.split('=')[0] ?? '';
      return longs.some((long) => name.length > 3 && long.startsWith(name));
    }
    return /^-[A-Za-z]/.test(argument) && Array.from(argument.slice(1)).some((letter) => letters.includes(letter));
  });
}

const operandsOf = (args: readonly string[]): readonly string[] => args.filter((argument) => !argument.startsWith('-'));
const begins = (...names: readonly string[]) => (args: readonly string[]): boolean => names.includes(operandsOf(args)[0] ?? ''); // prettier-ignore
/** `git -C folder reset --hard`: skips the flags before the command, with their values. */
const gitWords = (args: readonly string[]): readonly string[] => {
  let at = 0;
  while (at < args.length && (args[at] ?? '').startsWith('-'))
    at += /^-[cC]$|^--(?:git-dir|work-tree|namespace)$/.test(args[at] ?? '') ? 2 : 1;
  return args.slice(at);
};
const gitIs = (name: string, test: (args: readonly string[]) => boolean = () => true) => (args: readonly string[]): boolean => {
  const [given, ...rest] = gitWords(args);
  return given === name && test(rest);
}; // prettier-ignore

/** The flags of kubectl and helm that take a value and may precede the command. */
const clusterValued = /^(?:-[ns]|--(?:namespace|context|kube-context|cluster|kubeconfig|server|user|as|token|request-timeout))$/;
const engineValued = /^(?:-[cHl]|--(?:context|host|config|log-level|connection|url))$/;
const withoutFlags = (args: readonly string[], valued: RegExp): readonly string[] => {
  const words: string[] = [];
  for (let at = 0; at < args.length; at += valued.test(args[at] ?? '') ? 2 : 1) {
    if (!(args[at] ?? '').startsWith('-')) words.push(args[at] ?? '');
  }
  return words;
};
const clusterIs = (...paths: readonly string[]) => (args: readonly string[]): boolean => isOneOf(withoutFlags(args, clusterValued), paths); // prettier-ignore
const engineIs = (...paths: readonly string[]) => (args: readonly string[]): boolean => isOneOf(withoutFlags(args, engineValued), paths); // prettier-ignore
const isOneOf = (words: readonly string[], paths: readonly string[]): boolean =>
  paths.some((path) => `${words.join(' ')} `.startsWith(`${path} `));

function clusterPlace(args: readonly string[]): string {
  const context = valueOf(args, '--context', '--kube-context');
  const namespace = valueOf(args, '-n', '--namespace');
  const all = args.includes('-A') || args.includes('--all-namespaces');
  return `${context === null ? 'the current context' : `the context ${nameObject(context)}`}, ${
    all ? 'all namespaces' : namespace === null ? 'its default namespace' : `the namespace ${nameObject(namespace)}`
  }`;
}

function valueOf(args: readonly string[], ...names: readonly string[]): string | null {
  for (const [index, argument] of args.entries()) {
    if (names.includes(argument)) return args[index + 1] ?? null;
    const long = names.find((name) => name.startsWith('--') && argument.startsWith(`${name}=`));
    if (long !== undefined) return argument.slice(long.length + 1);
  }
  return null;
}

/** -L, -R, -D or -w with the ports, as the next argument or in the same one. */
const forwardsPorts = (args: readonly string[]): boolean =>
  args.some(
    (argument, at) =>
      /^-[A-Za-z0-9]*[LRDw]\S*\d/.test(argument) || (/^-[A-Za-z0-9]*[LRDw]$/.test(argument) && /\d/.test(args[at + 1] ?? '')),
  );
const deletesContainers =
  /^(?:(?:container|image|volume|network|system|builder|buildx|context|config|secret|stack|service|node|plugin|pod|machine) )?(?:rm|rmi|prune|remove)(?: |$)/;
const deletesInCluster = (args: readonly string[]): string =>
  `${withoutFlags(args, clusterValued)
    .slice(0, 4)
    .map(nameObject)
    .join(' ')
    .replace(/^\w+/, (verb) => `${verb}s`)} in ${clusterPlace(args)}`;
const leaves = (rest: string, one: RiskRule): RiskRule => ({ ...one, rest });
const inCluster = (one: RiskRule): RiskRule => ({ ...one, place: clusterPlace });

const destructive = (names: string, sentence: string, when?: RiskRule['when'], deed?: Risk['deed']): RiskRule =>
  ({ ...rule('destructive', names, sentence, when), ...(deed === undefined ? {} : { deed }) }); // prettier-ignore
const credential = (names: string, sentence: string, when?: RiskRule['when']): RiskRule => rule('credential', names, sentence, when);
/** Flags with which `dpkg` only shows something. */
const listsPackages = /^(?:-[lsLS]|--(?:list|status|listfiles|search))$/;

const network = (names: string, sentence: string, when?: RiskRule['when']): RiskRule => rule('network', names, sentence, when);
const exec = (names: string, sentence: string, when?: RiskRule['when']): RiskRule => rule('exec', names, sentence, when);

function rule(kind: Risk['class'], names: string, sentence: string, when?: RiskRule['when']): RiskRule {
  return { class: kind, programs: programs(names), sentence, ...(when === undefined ? {} : { when }) };
}

/** Flags that decide how something is shown. */
const shows =
  /^(?:-(?:br|brief|4|6|j|json|c|color|d|details|s|stats|o|h)|--(?:no-pager|user|system|full|all|plain|no-legend|(?:type|state)=\S+))$/;
/** The first words of package managers that change nothing. */
const looksAtPackages = /^(?:list|ls|show|search|info|policy|depends|rdepends|deps|uses|outdated|installed|query)$/;
const asksPackages = (args: readonly string[]): boolean => looksAtPackages.test(args.find((word) => !word.startsWith('--')) ?? '');
const showsSettings = (args: readonly string[]): boolean =>
  args.some((word) => /^(?:-l|--list|--get(?:-\w+)*|list|get)$/.test(word)) && !args.some((word) => /^--(?:add|unset|replace)/.test(word));

/** Returns false for commands that only show something: `systemctl status x`, `ip addr`, `defaults read`. */
function changes(args: readonly string[]): boolean {
  const looks =
    /^(?:status|is-[a-z]+|list[\w-]*|--failed|show|read|read-type|find|query|print|cat|info|help|get|addr|address|route|link|neigh|[ar]|-[LSlang])$/i;
  const words = args.slice(args.findIndex((argument) => !shows.test(argument)));
  return args.length > 0 && (!looks.test(words[0] ?? '') || /\b(?:add|del|delete|set|flush|change|replace|up|down)\b/.test(args.join(' ')));
}

const DEED_OBJECTS_MAX = 3;
const DEED_OBJECT_LENGTH_MAX = 60;

/** Quotes the name if it could be read as more than a name. */
function nameObject(name: string): string {
  const short = name.length > DEED_OBJECT_LENGTH_MAX ? `${name.slice(0, DEED_OBJECT_LENGTH_MAX)}…` : name;
  return /^[\w./~*@+:-]+…?$/.test(short) ? short : JSON.stringify(short);
}

/** For example "build and dist". Null if no object is named. */
function objects(args: readonly string[]): string | null {
  const named = operandsOf(args).map(nameObject);
  const more = named.length - DEED_OBJECTS_MAX;
  const shown = more > 0 ? [...named.slice(0, DEED_OBJECTS_MAX), `${more} more`] : named;
  const last = shown.pop();
  if (last === undefined) return null;
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`;
}

const withObjects = (before: string, after = '') => (args: readonly string[]): string | null => {
  const named = objects(args);
  return named === null ? null : `${before} ${named}${after}`;
}; // prettier-ignore

function pushes(args: readonly string[]): string | null {
  if (!hasFlag(args, 'f', '--force', '--force-with-lease')) return null;
  const target = operandsOf(gitWords(args)).slice(1, 3).join('/');
  return target === '' ? 'force-pushes' : `force-pushes to ${target}`;
}

/** The most serious first. */
export const riskRules: readonly RiskRule[] = [
  destructive('mkfs newfs mke2fs mkswap wipefs blkdiscard fdisk sfdisk cfdisk gdisk sgdisk parted diskpart format', 'It writes over whole disks.'),
  destructive('format-volume clear-disk initialize-disk remove-partition new-partition set-partition', 'It writes over whole disks.'),
  destructive('cryptsetup', 'It writes over whole disks.', (args) => /^(?:luksFormat|reencrypt|erase|luksErase)$/.test(operandsOf(args)[0] ?? '')),
  destructive('diskutil', 'It writes over whole disks.', (args) => /^(?:erase\w*|zeroDisk|randomDisk|secureErase|partitionDisk|reformat|deleteVolume|apfs|cs|appleRAID|resetFusion)$/i.test(args[0] ?? '') && !args.includes('list')),
  destructive('nvme hdparm', 'It writes over whole disks.', (args) => args.some((argument) => /^(?:format|sanitize|--security-erase\w*|--trim-sector\w*|--write-sector)$/.test(argument))),
  destructive('lvremove vgremove pvremove lvreduce', 'It writes over whole disks.'),
  destructive('zpool zfs btrfs mdadm', 'It writes over whole disks.', (args) => args.some((argument) => /^(?:destroy|labelclear|rollback|delete|--zero-superblock|--stop|-S)$/.test(argument))),
  destructive('dd', 'It writes raw data over a file or a disk.', (args) => args.some((argument) => argument.startsWith('of=') && argument !== 'of=/dev/null')),
  leaves('', destructive('rm unlink rmdir del erase rd srm', 'It deletes folders and everything in them.', (args) => hasFlag(args, 'rR', '--recursive'), withObjects('deletes', ' and everything inside'))),
  leaves('Nothing goes to a bin.', destructive('rm unlink rmdir del erase rd srm', 'It deletes files; they do not go to a bin.', undefined, withObjects('deletes'))),
  destructive('remove-item ri clear-recyclebin', 'It deletes files; they do not go to a bin.'),
  destructive('clear-content clc', 'It cuts files off.'),
  leaves('', destructive('rimraf del-cli trash-empty deltree', 'It deletes folders and everything in them.', undefined, withObjects('deletes', ' and everything inside'))),
  destructive('zip', 'It deletes the files it packs.', (args) => args.some((argument) => argument === '-m' || argument === '--move')),
  destructive('tar bsdtar', 'It deletes the files it packs.', (args) => args.includes('--remove-files')),
  destructive('mv cp', 'It throws away what a file holds.', (args) => operandsOf(args).includes('/dev/null')),
  destructive('chmod chown chgrp icacls takeown', 'It changes who may read or change the whole machine.', (args) => (hasFlag(args, 'R', '--recursive') || args.some((argument) => /^\/[tr]$/i.test(argument))) && operandsOf(args).some((place) => /^(?:\/\*?|~\/?\*?|\/(?:etc|usr|bin|sbin|lib|var|boot|home|root|System|Library|Users|opt|private)\/?\*?|[A-Za-z]:[\\/]?\*?)$/.test(place))),
  destructive('robocopy', 'It deletes what the source does not have.', (args) => args.some((argument) => /^\/(?:mir|purge|move?)$/i.test(argument))),
  destructive('cipher sdelete sdelete64', 'It destroys files so that they cannot come back.', (args) => args.some((argument) => /^\/w|^[^/]/i.test(argument))),
  destructive('vssadmin wbadmin wmic', 'It deletes backups of this machine.', (args) => /\bdelete\b/i.test(args.join(' '))),
  destructive('tmutil', 'It deletes backups of this machine.', (args) => /^(?:delete\w*|disable|removedestination|thinlocalsnapshots)$/i.test(args[0] ?? '')),
  destructive('reg', 'It deletes settings of this machine.', (args) => /^delete$/i.test(args[0] ?? '')),
  destructive('defaults dconf gsettings', 'It deletes settings of this machine.', (args) => /^(?:delete|delete-all|reset|reset-recursively)$/.test(operandsOf(args)[0] ?? '')),
  destructive('remove-itemproperty clear-itemproperty', 'It deletes settings of this machine.'),
  destructive('bcdedit bootcfg nvram efibootmgr csrutil', 'It changes how this machine starts.', (args) => args.some((argument) => /^(?:[/-](?:set|delete\w*|create|d|c|B|b|o)|disable|enable|clear)$/i.test(argument))),
  destructive('userdel deluser groupdel delgroup remove-localuser', 'It deletes a user.'),
  destructive('net', 'It deletes a user.', (args) => args.some((argument) => /^\/delete$/i.test(argument))),
  destructive('dscl sysadminctl', 'It deletes a user.', (args) => args.some((argument) => /^-?delete(?:User)?$/i.test(argument))),
  leaves('', destructive('shred wipe', 'It destroys files so that they cannot come back.', undefined, withObjects('destroys', ' for good'))),
  destructive('truncate', 'It cuts files off.'),
  destructive('find', 'It deletes the files it finds.', (args) => args.includes('-delete')),
  destructive('git', 'It throws away changes that were not committed.', gitIs('reset', (args) => args.includes('--hard') || args.includes('--merge'))),
  destructive('git', 'It deletes files git does not know.', gitIs('clean', (args) => hasFlag(args, 'f', '--force') && !hasFlag(args, 'n', '--dry-run'))),
  destructive('git', 'It throws away changes that were not committed.', gitIs('checkout', (args) => args.includes('--') || args.includes('.') || hasFlag(args, 'f', '--force'))),
  destructive('git', 'It throws away changes that were not committed.', gitIs('restore', (args) => !hasFlag(args, 'S', '--staged') || hasFlag(args, 'W', '--worktree'))),
  destructive('git', 'It throws away changes that were not committed.', gitIs('switch', (args) => hasFlag(args, 'f', '--force', '--discard-changes'))),
  destructive('git', 'It throws away changes that were not committed.', (args) => gitIs('worktree', (rest) => rest[0] === 'remove' && hasFlag(rest, 'f', '--force'))(args) || gitIs('submodule', (rest) => rest[0] === 'deinit' && hasFlag(rest, 'f', '--force'))(args)),
  destructive('git', 'It deletes files.', gitIs('rm', (args) => !args.includes('--cached') && !hasFlag(args, 'n', '--dry-run'))),
  destructive('git', 'It deletes what could still be restored.', (args) => gitIs('reflog', begins('expire', 'delete'))(args) || gitIs('gc', (rest) => rest.some((argument) => /^--prune=(?:now|all)/.test(argument)))(args) || gitIs('prune')(args)),
  destructive('git', 'It replaces history on the server.', gitIs('push', (args) => hasFlag(args, 'f', '--force', '--force-with-lease', '--mirror', '--delete', '--prune') || hasFlag(args, 'd') || args.some((argument) => /^[+:]/.test(argument))), pushes),
  destructive('git', 'It deletes a branch, merged or not.', gitIs('branch', (args) => hasFlag(args, 'D') || (hasFlag(args, 'd', '--delete') && hasFlag(args, 'f', '--force')))),
  destructive('git', 'It throws away what was put aside.', gitIs('stash', begins('drop', 'clear'))),
  destructive('git', 'It rewrites history.', (args) => gitIs('filter-branch')(args) || gitIs('filter-repo')(args) || gitIs('update-ref', (rest) => rest.includes('-d'))(args)),
  destructive('rsync', 'It deletes what the source does not have.', (args) => args.some((argument) => /^--del(?:ete\S*)?$/.test(argument) || argument === '--remove-source-files')),
  destructive('kill pkill killall taskkill skill xkill stop-process spps', 'It ends running programs.', (args) => !args.some((argument) => /^-(?:0|l|L|-list)$/.test(argument))),
  destructive('fuser', 'It ends running programs.', (args) => hasFlag(args, 'k', '--kill')),
  destructive('shutdown reboot halt poweroff init telinit stop-computer restart-computer', 'It stops the machine.'),
  destructive('systemctl loginctl', 'It stops the machine.', (args) => /^(?:poweroff|reboot|halt|kexec|rescue|emergency|suspend|hibernate)$/.test(operandsOf(args)[0] ?? '')),
  destructive('docker podman nerdctl', 'It deletes containers, images or their data.', (args) => deletesContainers.test(withoutFlags(args, engineValued).join(' ')) || (engineIs('compose down')(args) && hasFlag(args, 'v', '--volumes'))),
  inCluster(destructive('kubectl helm', 'It deletes things in a cluster.', clusterIs('delete', 'uninstall', 'drain'), deletesInCluster)),
  inCluster(destructive('kubectl', 'It deletes things in a cluster.', (args) => clusterIs('replace')(args) && args.includes('--force'))),
  destructive('docker-compose podman-compose', 'It deletes containers, images or their data.', (args) => begins('rm')(args) || (begins('down')(args) && hasFlag(args, 'v', '--volumes'))),
  destructive('terraform tofu pulumi', 'It tears down infrastructure.', (args) => begins('destroy')(args) || (begins('apply')(args) && /^-?-destroy$/.test(args.find((argument) => argument.includes('destroy')) ?? ''))),
  destructive('aws', 'It deletes things of a cloud account.', (args) => operandsOf(args).slice(0, 3).some((word) => /^(?:rm|rb|(?:delete|terminate|deregister|purge|remove|destroy)(?:-.*)?)$/.test(word)) || (operandsOf(args)[1] === 'sync' && args.includes('--delete'))),
  destructive('gcloud az doctl heroku fly flyctl gh glab vercel netlify eksctl oci linode-cli hcloud vultr-cli ibmcloud firebase supabase wrangler', 'It deletes things of a cloud account.', (args) => operandsOf(args).slice(0, 5).some((word) => /^(?:(?:[\w-]+:)?(?:delete|destroy|purge|remove|rm|reset)|terminate)$/.test(word))),
  destructive('gsutil s3cmd rclone mc s5cmd azcopy', 'It deletes things of a cloud account.', (args) => /^(?:rm|rb|del|rmdir|rmdirs|purge|delete|deletefile|cleanup|remove)$/.test(operandsOf(args)[0] ?? '') || (/^(?:sync|rsync|mirror)$/.test(operandsOf(args)[0] ?? '') && hasFlag(args, 'd', '--delete', '--remove')) || (operandsOf(args)[0] === 'sync' && args.length > 2)),
  destructive('dropdb dropuser', 'It deletes a database.'),
  destructive('mysqladmin', 'It deletes a database.', begins('drop')),
  destructive('redis-cli valkey-cli', 'It deletes data in a database.', (args) => /\b(?:flushall|flushdb|del|unlink)\b/i.test(args.join(' '))),
  destructive('mongo mongosh', 'It deletes data in a database.', (args) => /\b(?:drop(?:Database)?|deleteMany|deleteOne|remove)\s*\(/.test(args.join(' '))),
  destructive('pg_restore', 'It deletes data in a database.', (args) => hasFlag(args, 'c', '--clean')),
  destructive('rake rails', 'It deletes a database.', (args) => args.some((argument) => /^db:(?:drop|reset|purge|schema:load|migrate:reset|truncate_all)/.test(argument))),
  destructive('php', 'It deletes a database.', (args) => args.some((argument) => /^(?:migrate:(?:fresh|reset|refresh)|db:wipe)$/.test(argument))),
  destructive('prisma sequelize knex typeorm', 'It deletes a database.', (args) => /\b(?:reset|db:drop|schema:drop|migrate:rollback|db:migrate:undo:all)\b|--force-reset/.test(args.join(' '))),
  destructive('alembic', 'It deletes a database.', (args) => operandsOf(args)[0] === 'downgrade'),
  destructive('psql mysql sqlite3 mariadb', 'It deletes data in a database.', (args) => /\b(?:drop|truncate|delete\s+from)\b/i.test(args.join(' '))),
  destructive('history clear-history', 'It deletes the record of commands.', (args) => hasFlag(args, 'c')),
  destructive('iptables ip6tables nft ufw', 'It takes away the firewall.', (args) => hasFlag(args, 'FX', '--flush') || /^(?:flush|disable|reset)$/.test(operandsOf(args)[0] ?? '')),
  destructive('netsh', 'It takes away the firewall.', (args) => /firewall.*\b(?:off|reset)\b/i.test(args.join(' '))),
  destructive('set-mppreference set-netfirewallprofile', 'It takes away the protection of this machine.'),
  destructive('crontab', 'It deletes the list of scheduled commands.', (args) => hasFlag(args, 'r')),
  credential('gpg gpg2 pass op bw lpass vault secret-tool security keyring age sops keychain', 'It works with keys or stored passwords.'),
  credential('ssh-keygen ssh-add ssh-copy-id ssh-agent', 'It works with keys for signing in.'),
  credential('cmdkey vaultcmd', 'It works with keys or stored passwords.'),
  credential('passwd chpasswd htpasswd', 'It sets a password.'),
  credential('aws', 'It sets or shows keys of a cloud account.', begins('configure', 'sso', 'sts', 'secretsmanager', 'ssm')),
  credential('gcloud az gh glab doctl heroku npm cargo docker podman', 'It signs in, or shows what signs in.', begins('auth', 'login', 'logout', 'token', 'adduser', 'secret', 'secrets', 'account')),
  inCluster(credential('kubectl', 'It shows or changes what signs in to a cluster.', (args) => clusterIs('config view', 'config set-credentials', 'create token', 'create secret')(args) || (clusterIs('get', 'describe', 'edit')(args) && withoutFlags(args, clusterValued).some((word) => /(?:^|,)secrets?(?:\/|,|$)/.test(word))))),
  credential('git', 'It works with stored passwords of git.', gitIs('credential')),
  exec('sudo su doas pkexec runas', 'It runs as another user, most likely as root.'),
  network('ssh', 'It acts on another machine, and connects ports of it and of this computer.', forwardsPorts),
  network('ssh scp sftp sshfs mosh telnet', 'It acts on another machine.'),
  network('rsync', 'It copies to or from another machine.', (args) => args.some((argument) => /^[^-/][^/]*:/.test(argument))),
  inCluster(network('kubectl', 'It reads from a cluster.', clusterIs('get', 'describe', 'logs', 'top', 'events', 'explain', 'api-resources', 'api-versions', 'cluster-info', 'version', 'rollout status', 'rollout history', 'auth can-i', 'diff', 'config get-contexts', 'config current-context', 'config get-clusters'))),
  inCluster(network('helm', 'It reads from a cluster.', clusterIs('list', 'ls', 'status', 'history', 'get', 'show', 'search', 'version', 'env', 'template', 'repo list'))),
  inCluster(network('kubectl', 'It runs a command in a cluster.', clusterIs('exec', 'run', 'debug', 'attach', 'cp'))),
  inCluster(network('kubectl helm', 'It changes a cluster.')),
  network('ansible ansible-playbook ansible-galaxy terraform tofu pulumi aws gcloud az doctl heroku fly flyctl vercel netlify eksctl', 'It acts on machines or services elsewhere.', (args) => !begins('version', 'validate', 'fmt')(args)),
  exec('docker podman', 'It looks at containers or images.', engineIs('ps', 'images', 'logs', 'inspect', 'version', 'info', 'top', 'port', 'diff', 'history', 'stats', 'events', 'container ls', 'container list', 'container inspect', 'container logs', 'image ls', 'image inspect', 'volume ls', 'volume inspect', 'network ls', 'network inspect', 'compose ps', 'compose logs', 'compose config')),
  exec('docker podman docker-compose nerdctl buildah vagrant virsh lxc multipass', 'It starts or changes containers or virtual machines, which can reach past this folder.'),
  exec('systemctl service launchctl sc rc-service update-rc.d loginctl', 'It changes what runs on this machine.', changes),
  exec('crontab at batch schtasks', 'It has commands run later, without a question.', (args) => !hasFlag(args, 'l')),
  exec('rmmod swapoff kextload kextunload systemsetup softwareupdate xattr chflags setenforce spctl scutil networksetup pmset set-executionpolicy new-service set-service reg defaults iptables nft ufw firewall-cmd netsh ip ifconfig route mount umount sysctl modprobe useradd usermod userdel visudo chsh', 'It changes the settings of this machine.', changes),
  network('git', 'It sends commits to a server.', gitIs('push')),
  network('npm pnpm yarn cargo gem twine poetry uv vsce ovsx gh', 'It publishes something others will use.', begins('publish', 'push', 'upload', 'release', 'unpublish', 'deprecate')),
  network('npm pnpm yarn bun', 'It installs packages, which can run any code.', begins('install', 'i', 'add', 'ci', 'update', 'upgrade', 'exec', 'dlx', 'create', 'init')),
  network('npx bunx pnpx uvx pipx', 'It can fetch a package and runs it at once.'),
  network('pip pip3 uv poetry conda mamba gem bundle composer cpan luarocks', 'It installs packages, which can run any code.', begins('install', 'add', 'sync', 'update', 'download', 'require', 'pip')),
  network('cargo go', 'It fetches and builds code of others.', begins('install', 'get', 'add')),
  network('apt apt-get aptitude dnf yum zypper apk brew port snap flatpak winget choco scoop nix nix-env', 'It installs or removes programs on this machine.', (args) => !asksPackages(args)),
  network('pacman rpm', 'It installs or removes programs on this machine.', (args) => !/^-[qQ]/.test(args[0] ?? '')),
  exec('apt apt-cache aptitude dnf yum zypper apk brew port snap flatpak winget choco scoop', 'It looks up programs, here or on a server.', asksPackages),
  exec('pacman rpm', 'It looks up programs, here or on a server.', (args) => /^-[qQ]/.test(args[0] ?? '')),
  network('npm pnpm yarn bun', 'It asks the package server.', begins('view', 'info', 'show', 'v', 'outdated', 'audit', 'search', 'ping', 'whoami', 'doctor')),
  network('pip pip3 cargo', 'It asks the package server.', (args) => begins('index', 'search', 'fetch', 'outdated', 'audit')(args) || (begins('list')(args) && hasFlag(args, 'ou', '--outdated', '--uptodate'))),
  exec('ps pgrep pidof pstree top htop lsof w who last', 'It shows the programs and people at work on this machine.'),
  exec('ss netstat arp ip ifconfig route', 'It shows the network of this machine.', (args) => args.length === 0 || !changes(args)),
  exec('journalctl dmesg', 'It reads the logs of this machine.', (args) => !args.some((argument) => /^-(?:c|C)$|^--(?:clear|vacuum\S*|rotate|flush)$/.test(argument))),
  exec('ldd', 'It may run the program that it looks at.'),
  network('dpkg', 'It installs or removes programs on this machine.', (args) => !listsPackages.test(args[0] ?? '')),
  network('git', 'It talks to a server.', (args) => ['clone', 'fetch', 'pull', 'ls-remote'].includes(gitWords(args)[0] ?? '') || gitIs('submodule', begins('add', 'update'))(args) || gitIs('remote', (rest) => begins('update', 'prune')(rest) || (rest[0] === 'show' && rest.length > 1))(args)),
  network('curl wget http https xh aria2c fetch', 'It talks to the network.'),
  network('certutil bitsadmin', 'It talks to the network.', (args) => /https?:|\/transfer/i.test(args.join(' '))),
  network('nc ncat netcat socat ftp lftp ping dig nslookup host traceroute nmap whois rclone s3cmd', 'It talks to the network.'),
  network('invoke-webrequest invoke-restmethod iwr irm start-bitstransfer', 'It talks to the network.'),
  exec('chmod chown chgrp chattr setfacl icacls takeown', 'It changes who may read or change files.'),
  exec('git', 'It shows the settings of git, which may hold passwords.', gitIs('config', showsSettings)),
  exec('git', 'It sets what git runs.', gitIs('config', (args) => !showsSettings(args))),
]; // prettier-ignore
