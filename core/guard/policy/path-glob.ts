// Paths as a rule of config.yaml names them: a file or folder with all below; `*` and `?` stay within one name, `**` does not. Pure.

import { isAbsolute, resolve, sep } from 'node:path';

/** `ignoresCase` where a look-alike on some disk must not slip through. */
export function pathGlob(pattern: string, workspace: string, ignoresCase: boolean): (real: string) => boolean {
  const fold = (text: string): string => (ignoresCase ? text.toLowerCase() : text);
  const parts = partsOf(fold(isAbsolute(pattern) ? pattern : resolve(workspace, pattern)));
  // What is named covers all below.
  const whole = [...parts, '**'];
  return (real) => matchesAll(whole, partsOf(fold(real)), { isStar: (part) => /^\*{2,}$/.test(part), fits: matchesPart });
}

function matchesPart(pattern: string, name: string): boolean {
  return matchesAll([...pattern], [...name], {
    isStar: (char) => char === '*',
    fits: (char, other) => char === '?' || char === other,
  });
}

interface Matching {
  isStar(pattern: string): boolean;
  fits(pattern: string, item: string): boolean;
}

/** Each star takes as little as it can, and only the newest ever takes more: no pattern is slow. */
function matchesAll(patterns: readonly string[], items: readonly string[], how: Matching): boolean {
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
