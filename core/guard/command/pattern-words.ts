// Expands the patterns of a line as the shell does: each becomes the names of the files that match it now. Expands only unquoted words with
// `*` and `?`, because every shell finds the same names for them. The expanded line is then read and run in place of the original.

import { lstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { nameMatcher } from '../../base/wildcard.ts';
import { namesIn } from '../../store/home/home.ts';
import { isFolder } from './entered-folder.ts';
import { closingQuote } from './joined-line.ts';
import { quote } from './joined-command.ts';

const ENTRIES_MAX = 5_000;
const NAMES_MAX = 500;
const bare = /^[A-Za-z0-9_./:=,@%+^*?-]$/;
const edge = /^[ \t;|&]?$/;

/** Gets each folder whose names a pattern shows, as the pattern names it. */
export type OnListed = (folder: string) => void;

/** Returns null if the line has no patterns, or has patterns that shells may expand differently. */
export function expandPatterns(line: string, cwd: string, onListed?: OnListed): string | null {
  let expanded = '';
  let from = 0;
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? '';
    // Outside of quotes, it could make a pattern literal.
    if (character === '\\') return null;
    if (character === "'" || character === '"') {
      const end = closingQuote(line, at);
      if (end === null) return null;
      at = end;
    } else if (character === '*' || character === '?') {
      const begin = wordEdge(line, at, -1);
      const end = wordEdge(line, at, 1);
      const isWord = edge.test(line[begin] ?? '') && edge.test(line[end] ?? '');
      const names = isWord ? namesLike(line.slice(begin + 1, end), cwd, onListed) : null;
      if (names === null) return null;
      expanded += line.slice(from, begin + 1) + names.map(quote).join(' ');
      from = end;
      at = end - 1;
    }
  }
  return from === 0 ? null : expanded + line.slice(from);
}

/** Returns the index of the first character beyond the word. */
function wordEdge(line: string, at: number, step: 1 | -1): number {
  let edgeAt = at;
  while (bare.test(line[edgeAt] ?? '')) edgeAt += step;
  return edgeAt;
}

/**
 * Returns the matching names, or the pattern itself if nothing matches, as in the shell. Returns null where shells differ and for too many
 * names.
 */
function namesLike(pattern: string, cwd: string, onListed: OnListed = () => undefined): readonly string[] | null {
  const segments = pattern.split('/');
  // `.*` may match `..`, and `**` may match all folders below.
  if (segments.some((segment) => /^\..*[*?]|\*\*/.test(segment))) return null;
  const first = segments.findIndex((segment) => /[*?]/.test(segment));
  // Also of a folder that does not exist: the shell shows that.
  onListed(first === 0 ? '.' : `${segments.slice(0, first).join('/')}/`);
  let found: readonly string[] = [''];
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    const below: string[] = [];
    for (const prefix of found) {
      if (index > first) onListed(prefix);
      const entries = /[*?]/.test(segment) ? entriesLike(resolve(cwd, prefix), segment) : [segment];
      if (entries === null || below.length + entries.length > NAMES_MAX) return null;
      below.push(...entries.map((name) => prefix + name));
    }
    found = isLast ? below : below.filter((path) => isFolder(resolve(cwd, path === '' ? '/' : path))).map((path) => `${path}/`);
  }
  const names = found.filter((path) => isThere(resolve(cwd, path))).sort();
  return names.length === 0 ? [pattern] : names;
}

/** Returns null if the folder has too many entries. */
function entriesLike(folder: string, segment: string): readonly string[] | null {
  const like = nameMatcher(segment);
  const entries = namesIn(folder);
  return entries.length > ENTRIES_MAX ? null : entries.filter((name) => !name.startsWith('.') && like(name));
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // For example a name that is too long: the shell finds nothing either.
    return false;
  }
}
