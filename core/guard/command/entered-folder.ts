// Reads lines that start with `cd`: `cd app && npm test` is `npm test`, run in `app`. Only if the folder is written literally and exists.

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

/** Returns null if the line does not start by entering a folder. */
export function readEntry(line: string, cwd: string): EnteredFolder | null {
  const pieces = /^\s*cd[ \t]/.test(line) ? cutLine(line) : null;
  const [first, second] = pieces ?? [];
  // In a pipe, or after a failed `cd`, the next command runs elsewhere.
  if (first === undefined || (second?.joint !== '&&' && second?.joint !== ';')) return null;
  const words = readWords(first.text);
  const folder = words.ok && words.value.length === 2 ? words.value[1] : undefined;
  if (folder === undefined || folder === '' || folder.startsWith('-') || !isFolder(resolve(cwd, folder))) return null;
  return { folder, line: withoutLastEntry(line.slice(first.text.length + second.joint.length)).trim() };
}

/** A `cd` at the end changes nothing. */
function withoutLastEntry(line: string): string {
  const last = cutLine(line)?.at(-1);
  if (last === undefined || (last.joint !== '&&' && last.joint !== ';') || !/^\s*cd(?: +[\w./-]+)?\s*$/.test(last.text)) return line;
  return line.slice(0, -last.text.length - last.joint.length);
}

/** Returns false if the path cannot be inspected: such a folder cannot be entered either. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
