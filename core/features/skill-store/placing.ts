// Installs planned skills all or nothing: writes complete files to staging folders, records the intended moves durably, renames, and then
// commits once, which also trusts exactly these files. An installation that ends before the commit is undone, at once or at the next start.

import { dirname, join } from 'node:path';
import { makeFolders, type FolderCalls } from '../../base/make-folders.ts';
import { renameOver, type RenameCall } from '../../base/rename-over.ts';
import { syncFolder } from '../../base/sync-folder.ts';
import { AppError } from '../../contracts/errors.ts';
import type { SkillMove } from '../../contracts/features/skill-store.ts';

/** The part of `node:fs` that is used here. */
export interface StoreFs extends FolderCalls, RenameCall {
  existsSync(path: string): boolean;
  openSync(path: string, flags: string, mode?: number): number;
  writeSync(handle: number, content: Uint8Array, offset: number): number;
  fsyncSync(handle: number): void;
  closeSync(handle: number): void;
  readdirSync(path: string): string[];
  rmSync(path: string, options: { readonly recursive: true; readonly force: true }): void;
}

export interface PlacingDeps {
  readonly fs: StoreFs;
  /** The hash of a folder's current files; null if the folder does not exist. */
  readonly contentOf: (path: string) => string | null;
  /** Records the moves durably before it returns. */
  begin(moves: readonly SkillMove[]): void;
  /** Records the installed skills, and the trust in them, in one durable transaction. */
  commit(): void;
  undone(reason: string): void;
}

export interface Arrival {
  readonly name: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly sha256: string;
  /** The hash of the content when the plan was made; null if there was none. */
  readonly before: string | null;
}

const PRIVATE = 0o600;
const COMING = '.coming-';
const LEAVING = '.leaving-';

/** `tag` is different for each installation. Fails with conflict if the files have changed since the plan; nothing is changed then. */
export function place(arrivals: readonly Arrival[], folder: string, tag: string, deps: PlacingDeps): void {
  const moves = arrivals.map(({ name, before, sha256 }): SkillMove => {
    const beside = (prefix: string): string => join(folder, `${prefix}${tag}-${name}`);
    return { name, place: join(folder, name), coming: beside(COMING), leaving: beside(LEAVING), before, after: sha256 };
  });
  let isBegun = false;
  try {
    makeFolders(deps.fs, folder);
    for (const [at, move] of moves.entries()) stage(deps, move, arrivals[at]?.files ?? new Map());
    for (const move of moves) assertUnchanged(deps, move.place, move.before);
    deps.begin(moves);
    isBegun = true;
    for (const move of moves) swap(deps, move);
    syncFolder(deps.fs, folder);
    deps.commit();
  } catch (cause) {
    takeBack(moves, deps);
    if (isBegun) deps.undone(cause instanceof Error ? cause.message : String(cause));
    throw cause;
  }
}

/** Removes the staging folders, after the commit and after a killed process. */
export function sweep(folder: string, fs: StoreFs): void {
  if (!fs.existsSync(folder)) return;
  for (const name of fs.readdirSync(folder)) {
    if (name.startsWith(COMING) || name.startsWith(LEAVING)) fs.rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Restores the earlier state. May be interrupted and run again. */
export function takeBack(moves: readonly SkillMove[], { fs, contentOf }: Pick<PlacingDeps, 'fs' | 'contentOf'>): void {
  for (const { place: at, coming, leaving, before, after } of moves.toReversed()) {
    const isOldAside = fs.existsSync(leaving);
    const isNewThere = fs.existsSync(at) && (isOldAside || (before === null && contentOf(at) === after));
    if (isNewThere) {
      fs.rmSync(coming, { recursive: true, force: true });
      renameOver(fs, at, coming);
    }
    if (isOldAside) renameOver(fs, leaving, at);
    fs.rmSync(coming, { recursive: true, force: true });
  }
}

function stage({ fs, contentOf }: PlacingDeps, { coming, after, name }: SkillMove, files: ReadonlyMap<string, Uint8Array>): void {
  for (const [path, content] of files) {
    const target = join(coming, path);
    makeFolders(fs, dirname(target));
    writeNew(fs, target, content);
  }
  const folders = new Set([...files.keys()].map((path) => dirname(join(coming, path))));
  for (const folder of [...folders, coming]) syncFolder(fs, folder);
  if (contentOf(coming) !== after)
    throw new AppError('conflict', `The files of ${name} could not be written as they were shown.`, {
      hint: 'Nothing was changed. Try again.',
    });
}

/** Never overwrites a file, and never makes one executable. */
function writeNew(fs: StoreFs, path: string, content: Uint8Array): void {
  const handle = fs.openSync(path, 'wx', PRIVATE);
  try {
    for (let at = 0; at < content.length;) at += fs.writeSync(handle, content, at);
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
}

function swap(deps: PlacingDeps, { name, place: at, coming, leaving, before, after }: SkillMove): void {
  const { fs } = deps;
  assertUnchanged(deps, at, before);
  if (before !== null) renameOver(fs, at, leaving);
  renameOver(fs, coming, at);
  if (deps.contentOf(at) !== after)
    throw new AppError('conflict', `The files of ${name} changed while they were put in place.`, {
      hint: 'Nothing was changed. Try again.',
    });
}

function assertUnchanged({ fs, contentOf }: PlacingDeps, at: string, before: string | null): void {
  const now = fs.existsSync(at) ? contentOf(at) : null;
  if (now === before && (before !== null || !fs.existsSync(at))) return;
  throw new AppError('conflict', `The files in ${at} changed since the plan was shown.`, {
    hint: 'Nothing was changed. Look at the plan again.',
  });
}
