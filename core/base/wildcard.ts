// Patterns with wildcards, matched in a time that grows with the product of both lengths. A regular expression made of such a pattern goes
// back at each `*`: five of them and one long name take minutes.

/** One step of a pattern: any number of items, or a test of one. */
type Step<Item> = 'any' | ((item: Item) => boolean);

/** Each star matches as little as possible, and only the newest star is extended. */
function matchesAll<Item>(steps: readonly Step<Item>[], items: readonly Item[]): boolean {
  let at = 0;
  let item = 0;
  let star = -1;
  let taken = 0;
  while (item < items.length) {
    const step = steps[at];
    if (step === 'any') {
      star = at;
      taken = item;
      at += 1;
    } else if (step !== undefined && step(items[item] as Item)) {
      at += 1;
      item += 1;
    } else if (star >= 0) {
      taken += 1;
      item = taken;
      at = star + 1;
    } else return false;
  }
  return steps.slice(at).every((step) => step === 'any');
}

const anyLetter = (): boolean => true;

/** Matches a name: `*` matches any letters, `?` one. Every other letter matches only itself. */
export function nameMatcher(pattern: string): (name: string) => boolean {
  if (!/[*?]/.test(pattern)) return (name) => name === pattern;
  const steps = [...pattern].map((letter): Step<string> =>
    letter === '*' ? 'any' : letter === '?' ? anyLetter : (other) => other === letter,
  );
  return (name) => matchesAll(steps, [...name]);
}

/** Matches the names of a path one by one: `**` matches any number of names, the others are name patterns. */
export function namesMatcher(patterns: readonly string[], matcher = nameMatcher): (names: readonly string[]) => boolean {
  const steps = patterns.map((pattern): Step<string> => (/^\*{2,}$/.test(pattern) ? 'any' : matcher(pattern)));
  return (names) => matchesAll(steps, names);
}

const BRACES_MAX = 256;

/**
 * Matches a path with forward slashes by a glob: `**` across folders, `*`, `?`, `[a-z]` and `[!a-z]` within a name, `{a,b}` for either, and
 * a backslash before an ordinary letter. More than 256 combinations of braces match nothing.
 */
export function globMatcher(pattern: string): (path: string) => boolean {
  const matchers = withoutBraces(pattern).map((one) => namesMatcher(one.split('/'), globNameMatcher));
  return (path) => {
    const names = path.split('/');
    return matchers.some((matches) => matches(names));
  };
}

/** Matches a name as `globMatcher` does, without braces. */
export function globNameMatcher(pattern: string): (name: string) => boolean {
  const steps = [...pattern.matchAll(/\\(.)|\[([!^]?)(\]?[^\]]*)\]|([^])/gu)].map(([, escaped, not, set, letter = '']): Step<string> => {
    if (set !== undefined) {
      const holds = letterSet(set);
      return (other) => holds(other) === (not === '');
    }
    if (escaped === undefined && letter === '*') return 'any';
    if (escaped === undefined && letter === '?') return anyLetter;
    return (other) => other === (escaped ?? letter);
  });
  return (name) => matchesAll(steps, [...name]);
}

function letterSet(set: string): (letter: string) => boolean {
  const ranges = [...set.matchAll(/([^])-([^])|([^])/gu)].map(
    ([, first, last, only]) => [first ?? only ?? '', last ?? only ?? ''] as const,
  );
  return (letter) => ranges.some(([first, last]) => first <= letter && letter <= last);
}

/** Expands the braces of a pattern; more than 256 give none. A brace without a comma or an end is an ordinary letter. */
export function withoutBraces(pattern: string): string[] {
  const found = new Set([pattern]);
  for (const one of found) {
    const parts = firstBraces(one);
    if (parts === null) continue;
    found.delete(one);
    for (const part of parts.either) found.add(`${parts.before}${part}${parts.after}`);
    if (found.size > BRACES_MAX) return [];
  }
  return [...found];
}

function firstBraces(pattern: string): { before: string; either: string[]; after: string } | null {
  for (let start = pattern.indexOf('{'); start >= 0; start = pattern.indexOf('{', start + 1)) {
    let depth = 0;
    let from = start + 1;
    const either: string[] = [];
    for (let at = start; at < pattern.length; at++) {
      const letter = pattern[at];
      if (letter === '\\') at += 1;
      else if (letter === '{') depth += 1;
      else if ((letter === ',' && depth === 1) || (letter === '}' && depth === 1)) {
        either.push(pattern.slice(from, at));
        from = at + 1;
      }
      if (letter === '}') depth -= 1;
      if (depth === 0) {
        if (either.length < 2) break;
        return { before: pattern.slice(0, start), either, after: pattern.slice(at + 1) };
      }
    }
  }
  return null;
}
