// Places that no grant ever covers, each with a reason to show. Pure: judges a real path by its text and never opens it.

import { sep } from 'node:path';
import { ownDataProtection, type FactContext } from '../../contracts/tools.ts';
import { isInside } from '../../base/inside-folder.ts';

/** Real paths. */
export type ProtectedFolders = Pick<FactContext, 'home' | 'workspace' | 'configuredWorkspace'>;

interface Place {
  /** Consecutive parts anywhere in the path; a `*` in a part matches anything. */
  readonly parts: readonly string[];
  readonly reason: string;
}

const KEYS = 'keys and sign-in data are kept here';
const BROWSER = 'a browser keeps passwords and sign-ins here';
const START = 'this runs automatically when a shell or session starts';
const GIT_RUN = 'git runs commands from here';
const SCHEDULE = 'commands from here are run on a schedule';

const anywhere: readonly Place[] = [
  ...places(KEYS, [
    '.ssh',
    '.gnupg',
    '.aws',
    '.kube',
    '.azure',
    '.password-store',
    '.netrc',
    '_netrc',
    '.pgpass',
    '.npmrc',
    '.pypirc',
    '.git-credentials',
    '.vault-token',
    'keychains',
    'keyrings',
    'kwalletd',
    'id_rsa*',
    'id_ed25519*',
    'id_ecdsa*',
    '.docker/config.json',
    '.config/gcloud',
    '.config/gh',
    '.config/op',
    '.config/rclone',
    '.cargo/credentials*',
    '.terraform.d/credentials*',
    'microsoft/credentials',
    'microsoft/protect',
    'microsoft/vault',
    // Credentials of other programs.
    ...'id_dsa* *.ppk *.p12 *.pfx *.kdbx wallet.dat credentials.json service-account*.json *.tfstate .htpasswd .dockercfg'.split(' '),
    ...'.my.cnf .mylogin.cnf .s3cfg .boto .terraformrc .databrickscfg .authinfo* .msmtprc .mbsyncrc .fetchmailrc .rclone.conf'.split(' '),
    ...'.fly .oci .bluemix .snowsql .kaggle .openclaw .ethereum .bitcoin .electrum .thunderbird .huggingface'.split(' '),
    ...'.gem/credentials .m2/settings*.xml .gradle/gradle.properties .composer/auth.json .cache/huggingface/token'.split(' '),
    ...'*.jks *.keystore .vault_pass* client_secret*.json .snowflake .config/containers/auth.json .config/glab-cli'.split(' '),
    ...'.claude/.credentials.json .codex/auth.json .gemini/oauth_creds.json'.split(' '),
    ...'hub doctl heroku configstore github-copilot 1password bitwarden'.split(' ').map((name) => `.config/${name}`),
  ]),
  ...places('what was typed into a shell may hold keys', [
    '.bash_history',
    '.zsh_history',
    '.sh_history',
    '.*_history',
    'consolehost_history.txt',
  ]),
  ...places('environment files usually hold keys', ['.env', '.env.*', '.envrc']),
  ...places(BROWSER, [
    '.mozilla',
    '.config/google-chrome*',
    '.config/chromium',
    '.config/bravesoftware',
    // The files themselves, wherever they were copied.
    'login data',
    'key4.db',
    'logins.json',
    'cookies.sqlite',
    'google/chrome/user data',
    'microsoft/edge/user data',
    'application support/google/chrome',
    'application support/firefox',
    'mozilla/firefox',
    'library/cookies',
    'library/safari',
    ...'vivaldi microsoft-edge* opera'.split(' ').map((name) => `.config/${name}`),
    ...'com.google.chrome org.chromium.chromium org.mozilla.firefox com.brave.browser'.split(' ').map((name) => `.var/app/${name}`),
    ...'bravesoftware/brave-browser/user data|opera software'.split('|'),
    ...'bravesoftware|microsoft edge|arc|vivaldi|com.operasoftware.opera'.split('|').map((name) => `application support/${name}`),
  ]),
  ...places(START, [
    '.bashrc',
    '.bash_profile',
    '.bash_login',
    '.bash_logout',
    '.bash_aliases',
    '.profile',
    '.zshrc',
    '.zshenv',
    '.zprofile',
    '.zlogin',
    '.zlogout',
    '.kshrc',
    '.cshrc',
    '.tcshrc',
    '.login',
    '.inputrc',
    '.xprofile',
    '.xinitrc',
    '.xsession*',
    '.pam_environment',
    '.config/fish',
    '.config/autostart',
    '.config/systemd',
    '.config/environment.d',
    'library/launchagents',
    'library/launchdaemons',
    'start menu/programs/startup',
    'windowspowershell/*profile.ps1',
    'powershell/*profile.ps1',
  ]),
  ...places(GIT_RUN, ['.git/hooks', '.git/config', '.git/config.worktree', '.git/modules', '.gitconfig', '.config/git', '.husky']),
  ...places(SCHEDULE, ['crontabs', 'spool/cron', 'cron.d', 'cron.daily', 'cron.hourly', 'cron.weekly', 'cron.monthly', 'crontab']),
];

/** Places that may be read, but whose content runs when one of the person's programs starts or opens the folder. */
const runLater: readonly Place[] = places('a program runs what is written here', [
  ...'.vscode *.code-workspace .idea .devcontainer .mcp.json .cursor/mcp.json .claude/settings*'.split(' '),
  ...'mise.toml .mise.toml .vimrc .exrc .nvimrc .nvim.lua .emacs .emacs.d .dir-locals.el .tmux.conf .screenrc .gdbinit .lldbinit'.split(
    ' ',
  ),
  ...'.irbrc .pryrc .pythonrc .rprofile .octaverc .pre-commit-config.yaml lefthook.yml lefthook.yaml .curlrc .wgetrc'.split(' '),
  // Mercurial runs hooks and aliases from here, also when a prompt asks for the state of the folder.
  ...'.hg .hgrc .devcontainer.json .direnvrc .config/direnv .config/mise .config/nvim .vim .ghci .hammerspoon .oh-my-zsh .ipython'.split(
    ' ',
  ),
  ...'.jupyter .xbindkeysrc .lessfilter .mailcap .wezterm.lua .psqlrc .sqliterc .sbclrc .zed .yarnrc.yml .pnpmfile.cjs'.split(' '),
  ...'i3 sway hypr kitty wezterm awesome bspwm openbox qtile zed starship.toml'.split(' ').map((name) => `.config/${name}`),
  // Python runs the first three at every start, a file manager or the system the next three.
  ...'sitecustomize.py usercustomize.py *.pth *.desktop *.lnk autorun.inf .dir-locals-2.el .renviron .yarnrc .bundle/config'.split(' '),
  ...'.helix .fleet .gemini/settings* .codex/config.toml .claude/hooks .jj lefthook-local.* .lefthook* .mise mise.*.toml .mise.*.toml'.split(
    ' ',
  ),
  // A version manager starts what these name at the next call of a program.
  ...'.tool-versions rust-toolchain rust-toolchain.toml'.split(' '),
  ...'.autoenv .autoenv.zsh .shadowenv.d .p10k.zsh .pdbrc .xmonad .skhdrc .yabairc .phoenix.js .aerospace.toml .julia/config'.split(' '),
  ...'code vscodium helix tmux xmonad herbstluftwm river niri mpv zellij alacritty espanso karabiner'
    .split(' ')
    .map((name) => `.config/${name}`),
  ...'.cargo/config .cargo/config.toml pip.conf .local/bin .local/share/applications .local/share/systemd .config/nushell'.split(' '),
]);

const namedRoots: readonly { readonly root: string; readonly reason: string }[] = [
  ...['/etc', '/private/etc'].map((root) => ({ root, reason: 'the settings of the whole machine are kept here' })),
  ...['/boot', '/efi'].map((root) => ({ root, reason: 'the machine starts from here' })),
  ...['/dev', '/proc', '/sys'].map((root) => ({ root, reason: 'this is the kernel and its devices, not a file' })),
  ...['/run', '/private/var/run'].map((root) => ({ root, reason: 'running services are reached through here' })),
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/System', '/Library', '/private/var/db', '/var/lib', '/var/spool'].map(
    (root) => ({
      root,
      reason: 'this is part of the operating system',
    }),
  ),
];

const windowsRoot = /^[a-z]:\\(windows|program files|program files \(x86\)|programdata)(\\|$)/;

/**
 * Returns whether a path is in TrayClaw's own data folder. No opened folder around or inside the data folder gives access to it, except for
 * the workspace.
 */
export function isOwnData(real: string, folders: ProtectedFolders): boolean {
  return isOwn(plain(real), folders);
}

function isOwn(plainReal: string, folders: ProtectedFolders): boolean {
  return isInside(plainReal, plain(folders.home)) && !isInOwnWorkspace(plainReal, folders);
}

/** Returns why only a once-only approval covers this path, or null. The comparison ignores case, so it holds on every disk. */
export function protectionOf(real: string, folders: ProtectedFolders): string | null {
  const plainReal = plain(real);
  if (isOwn(plainReal, folders)) return ownDataProtection;
  const listed = protectedReason(plainReal);
  if (listed !== null) return listed;
  if (windowsRoot.test(plainReal)) return 'this is part of the operating system';
  const workspace = plain(folders.workspace);
  return roots.find(({ root }) => isUnderRoot(plainReal, root, workspace))?.reason ?? null;
}

/** A workspace below such a root (a service's folder in /var/lib) does not belong to the system. */
function isUnderRoot(plainReal: string, root: string, workspace: string): boolean {
  // Most paths are settled by their beginning.
  if (!plainReal.startsWith(root) || !isInside(plainReal, root) || isInside(plainReal, '/run/media')) return false;
  return !(isInside(workspace, root) && isInside(plainReal, workspace));
}

/** The workspace is exempt from the data folder's protection only if it is inside the data folder, never around it. */
function isInOwnWorkspace(plainReal: string, folders: ProtectedFolders): boolean {
  const workspace = plain(folders.configuredWorkspace ?? folders.workspace);
  const home = plain(folders.home);
  return workspace !== home && isInside(workspace, home) && isInside(plainReal, workspace);
}

const protectedReason = reasonIn(anywhere);

/** Returns why changing a path (in its plain form) needs an approval although reading it does not; null if it does not. */
export const runLaterReason = reasonIn(runLater);

/**
 * Creates a function that returns the reason for the place that contains a path. A walk calls it for every file, so a single map lookup
 * settles most parts.
 */
function reasonIn(listed: readonly Place[]): (plainReal: string) => string | null {
  const exactStarts = groupByFirstPart(listed.filter((place) => !startsWide(place)));
  const wideStarts = listed.filter(startsWide);
  return (plainReal) => {
    const parts = plainReal.split(sep);
    for (const [start, part] of parts.entries()) {
      const exact = exactStarts.get(part)?.find((place) => matchesAt(parts, start, place));
      const found = exact ?? wideStarts.find((place) => matchesAt(parts, start, place));
      if (found !== undefined) return found.reason;
    }
    return null;
  };
}

function groupByFirstPart(listed: readonly Place[]): ReadonlyMap<string, readonly Place[]> {
  const groups = new Map<string, Place[]>();
  for (const place of listed) {
    const start = place.parts[0] ?? '';
    groups.set(start, [...(groups.get(start) ?? []), place]);
  }
  return groups;
}

function startsWide(place: Place): boolean {
  return place.parts[0]?.includes('*') === true;
}

function matchesAt(parts: readonly string[], start: number, place: Place): boolean {
  return place.parts.every((pattern, index) => matchesPart(parts[start + index] ?? '', pattern));
}

function matchesPart(part: string, pattern: string): boolean {
  const star = pattern.indexOf('*');
  if (star < 0) return part === pattern;
  const [before, after] = [pattern.slice(0, star), pattern.slice(star + 1)];
  return part.length >= before.length + after.length && part.startsWith(before) && part.endsWith(after);
}

function places(reason: string, paths: readonly string[]): Place[] {
  return paths.map((path) => ({ parts: path.split('/'), reason }));
}

/**
 * Normalises spellings that disks treat as the same name: case, Unicode forms, code points some disks ignore, and the dots, spaces and
 * `:stream` suffixes Windows drops.
 */
export function plain(path: string): string {
  if (hasOneSpelling.test(path) && !trailingDot.test(path)) return path.toLowerCase();
  const folded = path
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase();
  return folded
    .split(sep)
    .map((part, index) => (index === 0 ? part : part.replace(/(?<=.):.*$/, '').replace(/(?<=[^. ])[. ]+$/, '')))
    .join(sep);
}

// Printable ASCII without the space and the colon.
const hasOneSpelling = /^[\x21-\x39\x3b-\x7e]*$/;
const trailingDot = /\.(?:[\\/]|$)/;

const roots = namedRoots.map(({ root, reason }) => ({ root: plain(root), reason }));
