// Finds files of a folder for mentions by a part of their path, best match first. Bounded; leaves out files in .gitignore and protected
// places. Reads names only.

import { basename, relative, sep } from 'node:path';
import type { FactContext } from '../../contracts/tools.ts';
import { newWalkReport, walkFiles } from '../../hands/tools/tools.ts';

const ENTRIES_MAX = 20_000;
const FOUND_MAX = 30;

export interface FoundFiles {
  readonly files: string[];
  readonly isCut: boolean;
}

export async function findFiles(folders: FactContext, query: string, signal: AbortSignal): Promise<FoundFiles> {
  const wanted = query.toLowerCase();
  const root = folders.workspace;
  const report = newWalkReport();
  const found: { readonly path: string; readonly rank: number }[] = [];
  for await (const file of walkFiles({ root, folders, signal, entriesMax: ENTRIES_MAX }, report)) {
    if (file.isProtected || file.isLink) continue;
    const path = relative(root, file.path).split(sep).join('/');
    const rank = rankOf(path.toLowerCase(), wanted);
    if (rank !== null) found.push({ path, rank });
  }
  found.sort((a, b) => a.rank - b.rank || a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
  return { files: found.slice(0, FOUND_MAX).map(({ path }) => path), isCut: report.stopped };
}

/** Lower is better; null if the path does not match. */
function rankOf(path: string, wanted: string): number | null {
  if (path === wanted) return 0;
  const name = basename(path);
  if (name.startsWith(wanted)) return 1;
  if (path.startsWith(wanted)) return 2;
  if (name.includes(wanted)) return 3;
  return path.includes(wanted) ? 4 : null;
}
