// A line that first enters a folder: `cd app && npm test` is `npm test`, run in `app`. Only where the folder is written out and is there.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { cutLine } from './joined-line.ts';
import { readWords } from './plain-line.ts';

export interface EnteredFolder {
  /** As given. */
  readonly folder: string;
  /** The rest of the line. */
  readonly line: string;
}

/** Null for a line that begins otherwise. */
export function readEntry(line: string, cwd: string): EnteredFolder | null {
  const pieces = /^\s*cd[ \t]/.test(line) ? cutLine(line) : null;
  const [first, second] = pieces ?? [];
  // In a pipe, or after a failure, the next command runs elsewhere.
  if (first === undefined || (second?.joint !== '&&' && second?.joint !== ';')) return null;
  const words = readWords(first.text);
  const folder = words.ok && words.value.length === 2 ? words.value[1] : undefined;
  if (folder === undefined || folder === '' || folder.startsWith('-') || !isFolder(resolve(cwd, folder))) return null;
  return { folder, line: line.slice(first.text.length + second.joint.length).trim() };
}

/** False for what cannot be looked at: it cannot be entered either. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
