// Computes from the configuration what a confined command may access on this machine. Checks which paths exist on disk; changes nothing and
// starts nothing.

import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { coversHost } from '../../base/hosts-in-text.ts';
import { isInside } from '../../base/inside-folder.ts';
import { globMatcher } from '../../base/wildcard.ts';
import type { Config } from '../../contracts/config.ts';
import type { FactContext, ScriptBounds } from '../../contracts/tools.ts';

/** temporary: looks empty and accepts writes, which are discarded afterwards. */
export type FolderAccess = 'hidden' | 'temporary' | 'read' | 'write';

export interface FolderRule {
  /** Real path of an existing folder. */
  readonly path: string;
  readonly access: FolderAccess;
}

export interface SandboxPolicy {
  /** From the top down. The nearest rule above a path applies; a path without a rule can be read. */
  readonly folders: readonly FolderRule[];
  /** Files that cannot be read. */
  readonly hiddenFiles: readonly string[];
  /** Returns whether the person denied access to a path below the write folders. */
  readonly isDenied: (path: string) => boolean;
  readonly allowDomains: readonly string[];
  readonly limits: Config['sandbox']['limits'];
}

export interface PolicyPlace {
  readonly facts: FactContext;
  /** Replaces the configured workspace, which is then not writable. */
  readonly workspace?: string;
  /** The person's home folder. */
  readonly userHome: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Folders of personal files, and shared folders of programs. */
const personalFolders = ['/home', '/root', '/Users', '/media', '/mnt', '/Volumes', '/run/user', '/tmp', '/private/tmp', '/var/tmp'];

/** Every run has its own temporary folder at this path. */
export const temporaryPlace = '/tmp';

const keyPlaces = [
  ...'/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/krb5.keytab /etc/master.passwd'.split(' '),
  ...['rsa', 'ecdsa', 'ed25519'].map((kind) => `/etc/ssh/ssh_host_${kind}_key`),
  ...'/etc/sudoers.d /etc/ssl/private /etc/wireguard /etc/NetworkManager/system-connections /Library/Keychains'.split(' '),
];

/** Hidden in the person's home folder, even if the whole folder was opened. */
const ownKeys = [
  ...'.ssh .gnupg .aws .azure .kube .docker .password-store .netrc .pgpass .npmrc .pypirc .env'.split(' '),
  ...'.git-credentials .vault-token .terraform.d .config/gcloud .config/gh .config/op .config/rclone .mozilla'.split(' '),
  ...'.config/google-chrome .config/chromium .config/BraveSoftware .local/share/keyrings .local/share/kwalletd'.split(' '),
  ...'.cargo/credentials.toml Library/Keychains Library/Cookies'.split(' '),
  'Library/Application Support/Google/Chrome',
];

/** Folders of tools that a person installed. Keys are stored elsewhere. */
const toolFolders = [
  ...'.nvm/versions .volta .fnm .local/share/fnm .asdf .local/share/mise .nodenv .npm-global .bun/bin'.split(' '),
  ...'.deno/bin .pyenv .rbenv .rustup .cargo/bin .local/bin .local/lib .local/share/pipx .local/share/uv'.split(' '),
  ...'.sdkman/candidates go/bin bin'.split(' '),
];

/** With the bounds of a skill, the policy also allows no more than the skill declares, except for the workspace. */
export function createPolicy(
  config: Config['sandbox'],
  place: PolicyPlace,
  extraReads: readonly string[] = [],
  bounds: Pick<ScriptBounds, 'hosts' | 'folders'> | null = null,
): SandboxPolicy {
  const { facts, userHome } = place;
  const at = (path: string): string => expand(path, place);
  const own = place.workspace ?? facts.workspace;
  // Relative paths are denied in the session's folder and in the configured workspace.
  const denied = [
    ...config.files.deny.map(at),
    ...config.files.deny.map((path) => expand(path, { ...place, facts: { ...facts, workspace: own } })),
  ];
  const opened = existing([...facts.extraFolders, ...config.files.write.map(at)]);
  const bounded = bounds === null ? opened : inBoth(opened, bounds.folders, (wide, narrow) => isInside(narrow, wide));
  const write = existing([own, ...bounded]);
  const readable = existing([...config.files.read.map(at), ...extraReads]);
  const tools = existing([...toolFolders.map((name) => join(userHome, name)), ...programFolders(place)]);
  // Personal folders are hidden unless the person opened all of them. Keys and TrayClaw's data are hidden even inside an opened folder.
  const whole = existing([...personalFolders, userHome]).filter((path) => ![...write, ...readable].some((open) => isInside(path, open)));
  const firm = existing([...keyPlaces, ...ownKeys.map((name) => join(userHome, name)), facts.home, ...denied.filter(isPlain)]);
  const rules = new Map<string, FolderAccess>();
  const set = (paths: readonly string[], access: FolderAccess): void => {
    for (const path of paths) if (path !== '/' && isFolder(path)) rules.set(path, access);
  };
  // If two lists name the same folder, the later one wins.
  set(whole, 'hidden');
  set(
    whole.filter((path) => path === temporaryPlace),
    'temporary',
  );
  set(
    tools.filter((path) => !isInside(path, facts.home)),
    'read',
  );
  set(readable, 'read');
  set(firm, 'hidden');
  set(write, 'write');
  const { allowDomains } = config.network;
  return {
    folders: withoutRepetition(rules),
    hiddenFiles: firm.filter((path) => !isFolder(path)),
    isDenied: matcherOf(denied),
    allowDomains: bounds === null ? allowDomains : inBoth(allowDomains, bounds.hosts, (wide, narrow) => coversHost([wide], narrow)),
    limits: config.limits,
  };
}

/** Returns the intersection of two lists whose entries cover everything below them. */
function inBoth(some: readonly string[], others: readonly string[], holds: (wide: string, narrow: string) => boolean): string[] {
  return [...some.filter((one) => others.some((other) => holds(other, one))), ...others.filter((one) => some.some((other) => other !== one && holds(other, one)))]; // prettier-ignore
}

export function accessOf(path: string, policy: Pick<SandboxPolicy, 'folders'>): FolderAccess {
  return policy.folders.findLast((rule) => isInside(path, rule.path))?.access ?? 'read';
}

export function foldersWith(access: FolderAccess, { folders }: Pick<SandboxPolicy, 'folders'>): string[] {
  return folders.filter((rule) => rule.access === access).map(({ path }) => path);
}

/** From the top down, without rules that repeat the access of their parent. */
function withoutRepetition(rules: ReadonlyMap<string, FolderAccess>): FolderRule[] {
  const kept: FolderRule[] = [];
  for (const path of [...rules.keys()].sort((a, b) => a.length - b.length)) {
    const access = rules.get(path) ?? 'hidden';
    if (accessOf(path, { folders: kept }) !== access) kept.push({ path, access });
  }
  return kept;
}

/** Returns the part of an environment that its pass list names. `LC_*` matches all names with that prefix. */
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
  // A pattern without a folder applies anywhere in the workspace.
  return isPattern(path) && !path.includes('/') ? join(facts.workspace, '**', path) : resolve(facts.workspace, path);
}

function matcherOf(denied: readonly string[]): (path: string) => boolean {
  const exact = new Set(denied.filter(isPlain));
  const patterns = denied.filter(isPattern).map(globMatcher);
  return (path) => exact.has(path) || patterns.some((matches) => matches(path));
}

/** Returns folders of the person's own programs on the PATH, each with the folder that usually contains its libraries. */
function programFolders({ environment, userHome }: PolicyPlace): string[] {
  const folders = (environment['PATH'] ?? '').split(':').filter((folder) => isAbsolute(folder));
  return folders.flatMap((folder) => {
    if (!isInside(folder, userHome)) return personalFolders.some((hidden) => folder !== hidden && isInside(folder, hidden)) ? [folder] : [];
    // The folder above `bin` is used only if it is deep enough not to be the home folder or a hidden folder directly in it.
    const above = dirname(folder);
    const isDeep = above.slice(userHome.length).split(sep).filter(Boolean).length >= 2;
    return folder.endsWith(`${sep}bin`) && isDeep ? [above] : folder === userHome ? [] : [folder];
  });
}

function existing(paths: readonly string[]): string[] {
  return [...new Set(paths.filter((path) => existsSync(path)).map((path) => realpathSync(path)))];
}
