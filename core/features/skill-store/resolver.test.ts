// Compares the resolver with a search through all combinations: it finds a solution if and only if there is one, and its solutions fit.

import { expect, test } from 'vitest';
import { soak } from '../../../tests/soak.ts';
import { resolve, type Choosable, type Need } from './resolver.ts';
import { fits, newestFirst } from './versions.ts';

type World = ReadonlyMap<string, readonly Choosable[]>;

/** Mulberry32: generates the same graphs in every run. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const versions = ['1.0.0', '1.1.0', '2.0.0'];
const ranges = ['*', '^1.0.0', '>=1.1.0', '<2.0.0', '2.0.0', '>=3.0.0'];

function worldOf(random: () => number): { world: World; wanted: Need[] } {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const names = ['a', 'b', 'c', 'd', 'e'].slice(0, 2 + Math.floor(random() * 4));
  const needs = (most: number): Need[] =>
    [...new Set(Array.from({ length: Math.floor(random() * (most + 1)) }, () => pick([...names, ...(random() < 0.05 ? ['z'] : [])])))].map((name) => ({ name, range: pick(ranges) })); // prettier-ignore
  const world = new Map(
    names.map((name) => {
      const there = versions.filter(() => random() < 0.7).sort(newestFirst);
      return [name, there.map((version): Choosable => ({ name, version, requires: needs(2) }))] as const;
    }),
  );
  const wanted = needs(2);
  return { world, wanted: wanted.length === 0 ? [{ name: 'a', range: '*' }] : wanted };
}

/** A choice is good if every skill reachable from the wanted ones is chosen, fits its range, and is not part of a cycle. */
function isGood(wanted: readonly Need[], chosen: ReadonlyMap<string, Choosable>): boolean {
  const visit = ({ name, range }: Need, above: readonly string[]): boolean => {
    const one = chosen.get(name);
    if (one === undefined || !fits(one.version, range) || above.includes(name)) return false;
    return one.requires.every((need) => visit(need, [...above, name]));
  };
  return wanted.every((need) => visit(need, []));
}

function hasSolution(wanted: readonly Need[], world: World): boolean {
  const names = [...world.keys()];
  const search = (at: number, chosen: Map<string, Choosable>): boolean => {
    const name = names[at];
    if (name === undefined) return isGood(wanted, chosen);
    return [null, ...(world.get(name) ?? [])].some((one) => {
      const next = new Map(chosen);
      if (one !== null) next.set(name, one);
      return search(at + 1, next);
    });
  };
  return search(0, new Map());
}

test('finds a solution exactly if an exhaustive search finds one', () => {
  let solved = 0;
  const count = soak(400, 5_000);
  for (let seed = 1; seed <= count; seed += 1) {
    const { world, wanted } = worldOf(randomOf(seed));
    const resolved = resolve(wanted, { candidates: (name) => world.get(name) ?? [], fits });
    expect([seed, resolved.ok]).toEqual([seed, hasSolution(wanted, world)]);
    if (!resolved.ok) continue;
    solved += 1;
    expect(isGood(wanted, new Map(resolved.chosen.map((one) => [one.name, one])))).toBe(true);
    for (const [at, { requires }] of resolved.chosen.entries()) {
      const earlier = new Set(resolved.chosen.slice(0, at).map(({ name }) => name));
      expect(requires.every(({ name }) => earlier.has(name))).toBe(true);
    }
  }
  expect(solved).toBeGreaterThan(count / 5);
  expect(solved).toBeLessThan((count * 4) / 5);
});

const one = (name: string, version: string, ...requires: readonly string[]): Choosable => ({
  name,
  version,
  requires: requires.map((need) => ({ name: need.split(' ')[0] ?? '', range: need.slice(need.indexOf(' ') + 1) })),
});
const explain = (wanted: readonly string[], ...all: readonly Choosable[]): string => {
  const needs = wanted.map((name) => ({ name, range: '*' }));
  const resolved = resolve(needs, { candidates: (name) => all.filter((each) => each.name === name), fits });
  return resolved.ok ? resolved.chosen.map(({ name, version }) => `${name} ${version}`).join(', ') : resolved.problem;
};

test('a conflict names both chains that lead to it', () => {
  const all = [
    one('a', '1.0.0', 'c >=2.0.0'),
    one('b', '1.0.0', 'd *'),
    one('d', '1.0.0', 'c <2.0.0'),
    one('c', '2.0.0'),
    one('c', '1.0.0'),
  ];
  expect(explain(['a', 'b'], ...all)).toBe(
    'No version of c fits both: a 1.0.0 needs c >=2.0.0 (which took 2.0.0), and b 1.0.0 → d 1.0.0 needs c <2.0.0.',
  );
});

test('a cycle is reported with its whole path', () => {
  const problem = explain(['a'], one('a', '1.0.0', 'b *'), one('b', '1.0.0', 'c *'), one('c', '1.0.0', 'a *'));
  expect(problem).toContain('Skills need each other in a circle: a → b → c → a');
});

test('a missing skill is reported with the skill that needs it and what is available', () => {
  expect(explain(['a'], one('a', '1.0.0', 'b >=2.0.0'), one('b', '1.0.0'))).toBe(
    'There is no b >=2.0.0, which a 1.0.0 needs. There is 1.0.0.',
  );
});

test('takes an older version if the newest does not fit', () => {
  const all = [one('a', '2.0.0', 'c *'), one('a', '1.0.0', 'b *'), one('b', '1.0.0')];
  expect(explain(['a'], ...all)).toBe('b 1.0.0, a 1.0.0');
});
