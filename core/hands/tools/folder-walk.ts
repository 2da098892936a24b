// Walks a folder for the search tools: sorted, bounded, obeying .gitignore, never through links and never into protected places. Reads
// names only.

import { constants, type Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { counted } from '../../base/counted.ts';
import { errnoOf } from '../../base/errno.ts';
import { AppError } from '../../contracts/errors.ts';
import { fileError } from './errno.ts';
import { openPlainFile } from './open-file.ts';
import { type ProtectedFolders, protectionOf } from './protected-places.ts';

export interface WalkOptions {
  readonly root: string;
  readonly folders: ProtectedFolders;
  readonly signal: AbortSignal;
  readonly entriesMax?: number;
}

export interface WalkedFile {
  readonly path: string;
  readonly isLink: boolean;
  readonly isProtected: boolean;
}

/** The entries that a walk left out, so that a result can mention them. */
export interface WalkReport {
  entriesSeen: number;
  /** True if the walk stopped at its limit. */
  stopped: boolean;
  unreadableFolders: number;
  protectedFolders: number;
  /** Files and folders that .gitignore names. */
  ignored: number;
}

const ENTRIES_MAX = 200_000;
const DEPTH_MAX = 64;

export function newWalkReport(): WalkReport {
  return { entriesSeen: 0, stopped: false, unreadableFolders: 0, protectedFolders: 0, ignored: 0 };
}

/** Yields files below the root, folder by folder in code-unit order. Throws if the root itself cannot be read, or on abort. */
export async function* walkFiles(options: WalkOptions, report: WalkReport): AsyncGenerator<WalkedFile, void, undefined> {
  // If a person approved a protected folder, its content is not left out.
  const guards = protectionOf(options.root, options.folders) === null;
  const inherited = await inheritedRules(options.root);
  // Who names a folder that is ignored as a whole means its content.
  const rules = await (inherited.ignores(options.root, true) ? new IgnoreRules() : inherited).below(options.root);
  const pending: { folder: string; rules: IgnoreRules; depth: number }[] = [{ folder: options.root, rules, depth: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    options.signal.throwIfAborted();
    const { folder, depth } = next;
    const entries = await readFolder(folder, depth === 0, report);
    const ownRules = depth > 0 ? await rulesOf(entries, folder, next.rules) : next.rules;
    const subfolders: string[] = [];
    for (const entry of entries) {
      if (++report.entriesSeen > (options.entriesMax ?? ENTRIES_MAX)) {
        report.stopped = true;
        return;
      }
      const path = join(folder, entry.name);
      if (entry.name === '.git') continue;
      if (ownRules.ignores(path, entry.isDirectory())) {
        report.ignored += 1;
        continue;
      }
      const isProtected = guards && protectionOf(path, options.folders) !== null;
      if (entry.isDirectory()) {
        if (isProtected) report.protectedFolders += 1;
        else subfolders.push(path);
      } else if (entry.isFile() || entry.isSymbolicLink()) {
        yield { path, isLink: entry.isSymbolicLink(), isProtected };
      }
    }
    if (depth < DEPTH_MAX) pending.push(...subfolders.reverse().map((path) => ({ folder: path, rules: ownRules, depth: depth + 1 })));
  }
}

async function rulesOf(entries: readonly Dirent[], folder: string, above: IgnoreRules): Promise<IgnoreRules> {
  return entries.some((entry) => entry.name === '.gitignore') ? above.below(folder) : above;
}

async function readFolder(folder: string, isRoot: boolean, report: WalkReport): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (cause) {
    if (isRoot) throw fileError('search', folder, cause);
    report.unreadableFolders += 1;
    return [];
  }
}

/** The remarks at the end of a search result; may be empty. */
export function walkRemarks(report: WalkReport, hasFound: boolean): string[] {
  const remarks: string[] = [];
  if (!hasFound && report.ignored > 0)
    remarks.push(`${counted(report.ignored, 'entry', 'entries')} of .gitignore left out; name such a folder as "path" to search in it`);
  if (report.stopped) remarks.push(`stopped after ${report.entriesSeen - 1} entries; search a smaller folder`);
  if (report.protectedFolders > 0) remarks.push(`${counted(report.protectedFolders, 'protected folder')} left out`);
  if (report.unreadableFolders > 0) remarks.push(`${counted(report.unreadableFolders, 'folder')} could not be read`);
  return remarks;
}

// Reads .gitignore files and decides about a path: the rules of the deepest folder with a match win. Reads nothing else.

const RULES_BYTES_MAX = 1_000_000;
const PARENTS_MAX = 32;

/** The rules of one folder: its own and those of its parents. */
class IgnoreRules {
  readonly #layers: readonly { readonly folder: string; readonly rules: Ignore }[];

  constructor(layers: readonly { readonly folder: string; readonly rules: Ignore }[] = []) {
    this.#layers = layers;
  }

  /** These rules and those of `folder`'s own .gitignore, if it has a readable one. */
  async below(folder: string): Promise<IgnoreRules> {
    const text = await readRules(join(folder, '.gitignore'));
    if (text === null) return this;
    return new IgnoreRules([{ folder, rules: ignore().add(text) }, ...this.#layers]);
  }

  ignores(path: string, isFolder: boolean): boolean {
    for (const { folder, rules } of this.#layers) {
      const inside = relative(folder, path).split(sep).join('/');
      const verdict = rules.test(isFolder ? `${inside}/` : inside);
      if (verdict.ignored) return true;
      if (verdict.unignored) return false;
    }
    return false;
  }
}

/** The rules that a search starting at `folder` inherits from its repository; none outside a repository. */
async function inheritedRules(folder: string): Promise<IgnoreRules> {
  const above: string[] = [];
  let current = folder;
  for (let i = 0; i < PARENTS_MAX; i++) {
    if (await exists(join(current, '.git'))) break;
    const parent = dirname(current);
    if (parent === current || i === PARENTS_MAX - 1) return new IgnoreRules();
    above.push(parent);
    current = parent;
  }
  let rules = new IgnoreRules();
  for (const parent of above.reverse()) rules = await rules.below(parent);
  return rules;
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause;
    return false;
  }
}

async function readRules(path: string): Promise<string | null> {
  try {
    const handle = await openPlainFile(path, constants.O_RDONLY, 'read');
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min((await handle.stat()).size, RULES_BYTES_MAX)));
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (cause) {
    // Unreadable rules hide nothing.
    if (cause instanceof AppError) return null;
    throw cause;
  }
}
