// Path patterns in rules of config.yaml: a file, or a folder with everything below it. `*` and `?` match within one name, `**` across
// names. Pure.

import { isAbsolute, resolve, sep } from 'node:path';

/** `ignoresCase` keeps a different spelling from evading a rule on a case-insensitive disk. */
export function pathGlob(pattern: string, workspace: string, ignoresCase: boolean): (real: string) => boolean {
  const fold = (text: string): string => (ignoresCase ? text.toLowerCase() : text);
  const parts = partsOf(fold(isAbsolute(pattern) ? pattern : resolve(workspace, pattern)));
  // A named folder covers everything below it.
  const whole = [...parts, '**'].map(namePattern);
  return (real) => matchesAll(whole, partsOf(fold(real)), nameMatching);
}

interface NamePattern {
  readonly text: string;
  /** Matches any number of names. */
  readonly isStar: boolean;
  /** Null for a name without wildcards. Nearly all names have none and are simply compared. */
  readonly chars: readonly string[] | null;
}

function namePattern(text: string): NamePattern {
  return { text, isStar: /^\*{2,}$/.test(text), chars: /[*?]/.test(text) ? [...text] : null };
}

const nameMatching: Matching<NamePattern> = {
  isStar: ({ isStar }) => isStar,
  fits: ({ text, chars }, name) => (chars === null ? text === name : matchesAll(chars, [...name], charMatching)),
};

const charMatching: Matching<string> = {
  isStar: (char) => char === '*',
  fits: (char, other) => char === '?' || char === other,
};

interface Matching<Pattern> {
  isStar(pattern: Pattern): boolean;
  fits(pattern: Pattern, item: string): boolean;
}

/** Each star matches as little as possible, and only the newest star is extended, so no pattern is slow. */
function matchesAll<Pattern>(patterns: readonly Pattern[], items: readonly string[], how: Matching<Pattern>): boolean {
  let at = 0;
  let item = 0;
  let star = -1;
  let taken = 0;
  while (item < items.length) {
    const pattern = patterns[at];
    if (pattern !== undefined && how.isStar(pattern)) {
      star = at;
      taken = item;
      at += 1;
    } else if (pattern !== undefined && how.fits(pattern, items[item] ?? '')) {
      at += 1;
      item += 1;
    } else if (star >= 0) {
      taken += 1;
      item = taken;
      at = star + 1;
    } else return false;
  }
  return patterns.slice(at).every((pattern) => how.isStar(pattern));
}

function partsOf(path: string): string[] {
  return path.split(sep === '/' ? '/' : /[\\/]/).filter((part) => part !== '');
}
