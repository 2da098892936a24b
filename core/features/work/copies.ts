// Copies of a workspace, one for each candidate, and the differences between a copy and its origin. Writes nothing into a workspace: a tool
// call merges the changes of the chosen copy, behind the gate.

import {
  constants,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { AppError } from '../../contracts/errors.ts';
import { mergeFilesMax, type MergeChange } from '../../contracts/workspace-ops.ts';

const FILES_MAX = 20_000;
const BYTES_MAX = 1_000_000_000;

/** Maps each path below the folder to a description of its entry. Equal descriptions mean equal content. */
export type Tree = ReadonlyMap<string, string>;

interface CopyPlace {
  readonly temporaryFolder: string;
  readonly taskId: string;
}

function baseFile({ temporaryFolder, taskId }: CopyPlace): string {
  return join(realpathSync(temporaryFolder), `trayclaw-${taskId}-base.json`);
}

/** Creates a fresh copy. Deletes the rest of an interrupted copy. Fails with `invalid_params` if the folder is too large. */
export function makeCopy(place: CopyPlace, workspace: string, candidate: number): string {
  const tree = readTree(workspace);
  const folder = join(realpathSync(place.temporaryFolder), `trayclaw-${place.taskId}-${candidate}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  cpSync(workspace, folder, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, mode: constants.COPYFILE_FICLONE });
  writeFileSync(baseFile(place), JSON.stringify([...tree]), { mode: 0o600 });
  return folder;
}

export function deleteCopies(place: CopyPlace, folders: readonly string[]): void {
  for (const folder of [...folders, baseFile(place)]) rmSync(folder, { recursive: true, force: true });
}

/** The changes that make the workspace equal to the copy. Fails with `conflict` if the workspace changed in between. */
export function changesOf(place: CopyPlace, copy: string, workspace: string): MergeChange[] {
  const base = readBase(place);
  const wanted = readTree(copy);
  const now = readTree(workspace);
  const paths = [...new Set([...base.keys(), ...wanted.keys()])].filter((path) => base.get(path) !== wanted.get(path)).sort();
  const stale = paths.filter((path) => now.get(path) !== base.get(path) && now.get(path) !== wanted.get(path));
  if (stale.length > 0) {
    throw new AppError('conflict', `${stale.slice(0, 3).join(', ')} changed in the workspace while the candidates were at work.`, {
      hint: `Nothing was merged. The chosen candidate is in ${copy}.`,
    });
  }
  if (paths.length > mergeFilesMax) {
    throw new AppError('conflict', `The candidate changed ${paths.length} files; at most ${mergeFilesMax} are merged.`, {
      hint: `Nothing was merged. It is in ${copy}.`,
    });
  }
  return paths.map((path) => ({ path, kind: wanted.has(path) ? 'write' : 'delete' }));
}

export function readTree(root: string): Tree {
  const tree = new Map<string, string>();
  let bytes = 0;
  const walk = (below: string): void => {
    for (const name of readdirSync(join(root, below)).sort()) {
      const path = below === '' ? name : `${below}/${name}`;
      const full = join(root, path);
      const stat = lstatSync(full);
      if (stat.isDirectory()) {
        walk(path);
        continue;
      }
      bytes += stat.size;
      if (tree.size >= FILES_MAX || bytes > BYTES_MAX) throw tooLarge(root);
      if (stat.isSymbolicLink()) tree.set(path, `link ${readlinkSync(full)}`);
      else if (stat.isFile()) tree.set(path, `file ${(stat.mode & 0o111) === 0 ? '' : 'x '}${hash('sha256', readFileSync(full), 'hex')}`);
    }
  };
  walk('');
  return tree;
}

function readBase(place: CopyPlace): Tree {
  return new Map(JSON.parse(readFileSync(baseFile(place), 'utf8')) as [string, string][]);
}

function tooLarge(root: string): AppError {
  return new AppError(
    'invalid_params',
    `${root} is too large to be copied for candidates: more than ${FILES_MAX} files or ${BYTES_MAX} bytes.`,
    { hint: 'Name a smaller folder as `workspace`, or use the strategy evaluate.' },
  );
}
