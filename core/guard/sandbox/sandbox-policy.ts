// What a confined command may touch on this machine, worked out from the configuration. Looks at the disk for what exists; changes
// nothing and starts nothing.

import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import picomatch from 'picomatch';
import type { Config } from '../../contracts/config.ts';
import type { FactContext } from '../../contracts/tools.ts';

export interface SandboxPolicy {
  /** Real paths of existing folders. */
  readonly writeFolders: readonly string[];
  /** Parts of hidden folders it may read all the same. */
  readonly readFolders: readonly string[];
  /** Folders that look empty to it, but for what is listed above; outermost only. */
  readonly hiddenFolders: readonly string[];
  /** Files that cannot be read. */
  readonly hiddenFiles: readonly string[];
  readonly isDenied: (path: string) => boolean;
  readonly allowDomains: readonly string[];
  readonly limits: Config['sandbox']['limits'];
}

export interface PolicyPlace {
  readonly facts: FactContext;
  /** The person's own folder. */
  readonly userHome: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Where people keep what is theirs, and where programs meet. */
const personalFolders = ['/home', '/root', '/Users', '/media', '/mnt', '/Volumes', '/run/user', '/tmp', '/private/tmp', '/var/tmp'];

const keyFiles = [
  ...['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/sudoers', '/etc/krb5.keytab', '/etc/master.passwd'],
  ...['rsa', 'ecdsa', 'ed25519'].map((kind) => `/etc/ssh/ssh_host_${kind}_key`),
];
const keyFolders = ['/etc/sudoers.d', '/etc/ssl/private', '/etc/wireguard', '/etc/NetworkManager/system-connections', '/Library/Keychains'];

/** Where tools live that a person installed for themselves; keys are kept elsewhere. */
const toolFolders = [
  ...['.nvm/versions', '.volta', '.fnm', '.local/share/fnm', '.asdf', '.local/share/mise', '.nodenv', '.npm-global', '.bun/bin'],
  ...['.deno/bin', '.pyenv', '.rbenv', '.rustup', '.cargo/bin', '.local/bin', '.local/lib', '.local/share/pipx', '.local/share/uv'],
  ...['.sdkman/candidates', 'go/bin', 'bin'],
];

export function createPolicy(config: Config['sandbox'], place: PolicyPlace, extraReads: readonly string[] = []): SandboxPolicy {
  const { facts, userHome } = place;
  const at = (path: string): string => expand(path, place);
  const writeFolders = existing([facts.workspace, ...facts.extraFolders, ...config.files.write.map(at)]);
  const opened = existing([...config.files.read.map(at), ...extraReads]);
  const denied = config.files.deny.map(at);
  const isKept = (folder: string): boolean => ![...writeFolders, ...opened].some((open) => isAtOrBelow(folder, open));
  const closed = existing([...personalFolders, ...keyFolders, ...keyFiles, userHome, facts.home, ...denied.filter(isPlain)]);
  const hiddenFolders = outermost(closed.filter((path) => path !== '/' && isFolder(path) && isKept(path)));
  const isHidden = (path: string): boolean => hiddenFolders.some((folder) => isAtOrBelow(path, folder));
  const tools = existing([...toolFolders.map((name) => join(userHome, name)), ...programFolders(place)]);
  const readFolders = [...opened, ...tools.filter((folder) => !isAtOrBelow(folder, facts.home))];
  return {
    writeFolders: outermost(writeFolders),
    readFolders: outermost(readFolders.filter(isHidden)),
    hiddenFolders,
    hiddenFiles: closed.filter((path) => !isFolder(path) && !isHidden(path)),
    isDenied: matcherOf(denied),
    allowDomains: config.network.allowDomains,
    limits: config.limits,
  };
}

/** The part of an environment that its pass list names; `LC_*` stands for all that begin so. */
export function passEnvironment(
  names: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    const isPassed = names.some((wanted) => (wanted.endsWith('*') ? name.startsWith(wanted.slice(0, -1)) : name === wanted));
    if (isPassed && value !== undefined) passed[name] = value;
  }
  return passed;
}

export function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === sep ? sep : folder + sep);
}

function isFolder(path: string): boolean {
  return statSync(path).isDirectory();
}

function isPlain(path: string): boolean {
  return !isPattern(path);
}

function isPattern(path: string): boolean {
  return /[*?[\]{}]/.test(path);
}

function expand(path: string, { facts, userHome }: PolicyPlace): string {
  if (path === '~' || path.startsWith('~/')) return join(userHome, path.slice(2));
  if (isAbsolute(path)) return path;
  // A pattern without a folder is meant anywhere in the workspace.
  return isPattern(path) && !path.includes('/') ? join(facts.workspace, '**', path) : resolve(facts.workspace, path);
}

function matcherOf(denied: readonly string[]): (path: string) => boolean {
  const exact = new Set(denied.filter(isPlain));
  const patterns = denied.filter(isPattern).map((pattern) => picomatch(pattern, { dot: true, nonegate: true }));
  return (path) => exact.has(path) || patterns.some((matches) => matches(path));
}

/** Programs of the person's own on the path, each with the folder its libraries usually lie in. */
function programFolders({ environment, userHome }: PolicyPlace): string[] {
  const folders = (environment['PATH'] ?? '').split(':').filter((folder) => isAbsolute(folder) && isAtOrBelow(folder, userHome));
  // The folder above `bin` is taken only where it is deep enough not to be the person's whole folder or a hidden one right in it.
  return folders.flatMap((folder) => {
    const above = dirname(folder);
    const isDeep = above.slice(userHome.length).split(sep).filter(Boolean).length >= 2;
    return folder.endsWith(`${sep}bin`) && isDeep ? [above] : folder === userHome ? [] : [folder];
  });
}

function existing(paths: readonly string[]): string[] {
  return [...new Set(paths.filter((path) => existsSync(path)).map((path) => realpathSync(path)))];
}

function outermost(folders: readonly string[]): string[] {
  return folders.filter((folder) => !folders.some((other) => other !== folder && isAtOrBelow(folder, other)));
}
