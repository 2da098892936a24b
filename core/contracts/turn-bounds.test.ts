import { expect, test } from 'vitest';
import { createRandom, type Random } from '../../tests/fuzz/random.ts';
import { isInside } from '../base/inside-folder.ts';
import { toolClasses } from './tools.ts';
import { narrow, turnBoundsSchema, wholeBounds, type TurnBounds } from './turn-bounds.ts';

const PAIRS = 10_000;
const tools = ['read_file', 'write_file', 'exec', 'web_fetch', 'subagent', 'message'];
const folders = ['/ws', '/ws/a', '/ws/a/b', '/ws/ab', '/srv', '/'];
const hosts = [
  'example.org',
  '*.example.org',
  'api.example.org',
  '*.api.example.org',
  'Example.org',
  'example.com',
  '127.0.0.1',
  'localhost',
];
const paths = ['/ws', '/ws/x', '/ws/a', '/ws/a/x', '/ws/a/b/x', '/ws/ab/x', '/srv/x', '/etc/x'];
const names = [
  'example.org',
  'www.example.org',
  'api.example.org',
  'v1.api.example.org',
  'example.com',
  '127.0.0.1',
  'localhost',
  'a.localhost',
  'badexample.org',
];

function some<T>(random: Random, from: readonly T[]): T[] | null {
  if (random.chance(0.25)) return null;
  return from.filter(() => random.chance(0.4));
}

function amount(random: Random, most: number): number | null {
  return random.chance(0.3) ? null : 1 + random.below(most);
}

function anyBounds(random: Random): TurnBounds {
  const asked = amount(random, 600_000);
  return {
    tools: some(random, tools),
    classes: some(random, toolClasses),
    folders: some(random, folders),
    hosts: some(random, hosts),
    steps: amount(random, 100),
    turnMs: amount(random, 3_600_000),
    usd: random.chance(0.3) ? null : random.below(1000) / 100,
    tokens: amount(random, 100_000),
    depth: random.below(11),
    grants: random.chance(0.5),
    unattended: asked === null ? null : { approvalMs: asked },
  };
}

/** A few dozen pairs, computed once because each is checked thousands of times. */
const inside = new Set(paths.flatMap((path) => folders.filter((folder) => isInside(path, folder)).map((folder) => `${folder}\n${path}`)));

/** Independent of the code under test: whether a bound allows a single item of each field. */
const lets = {
  tool: (bounds: TurnBounds, tool: string) => bounds.tools?.includes(tool) ?? true,
  class: (bounds: TurnBounds, name: (typeof toolClasses)[number]) => bounds.classes?.includes(name) ?? true,
  path: (bounds: TurnBounds, path: string) => bounds.folders?.some((folder) => inside.has(`${folder}\n${path}`)) ?? true,
  host: (bounds: TurnBounds, host: string) =>
    bounds.hosts?.some((entry) => {
      const [below, name] = entry.startsWith('*.') ? [true, entry.slice(2)] : [false, entry.toLowerCase()];
      const isPlace = name === 'localhost' || name === '127.0.0.1';
      return (!below && host === name) || (!isPlace && host.endsWith(`.${name}`));
    }) ?? true,
};

function isAtMost(one: number | null, other: number | null): boolean {
  return other === null || (one !== null && one <= other);
}

/** The items that `inner` allows and `outer` does not. */
function excesses(inner: TurnBounds, outer: TurnBounds): string[] {
  return [
    ...tools.filter((tool) => lets.tool(inner, tool) && !lets.tool(outer, tool)),
    ...toolClasses.filter((name) => lets.class(inner, name) && !lets.class(outer, name)),
    ...paths.filter((path) => lets.path(inner, path) && !lets.path(outer, path)),
    ...names.filter((host) => lets.host(inner, host) && !lets.host(outer, host)),
    ...(['steps', 'turnMs', 'usd', 'tokens', 'depth'] as const).filter((field) => !isAtMost(inner[field], outer[field])),
    ...(inner.grants && !outer.grants ? ['grants'] : []),
    ...(isAtMost(inner.unattended?.approvalMs ?? null, outer.unattended?.approvalMs ?? null) ? [] : ['unattended']),
  ];
}

test(`narrowing ${PAIRS} pairs allows exactly the calls that both allow`, () => {
  const random = createRandom(6);
  const wrong: object[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const [parent, wanted] = [anyBounds(random), anyBounds(random)];
    const narrowed = turnBoundsSchema.parse(narrow(parent, wanted));
    const more = [...excesses(narrowed, parent), ...excesses(narrowed, wanted)];
    // Calls that both allow must remain. Bounds that refuse everything would pass the check above.
    const lost = [
      ...tools.filter((tool) => lets.tool(parent, tool) && lets.tool(wanted, tool) && !lets.tool(narrowed, tool)),
      ...toolClasses.filter((name) => lets.class(parent, name) && lets.class(wanted, name) && !lets.class(narrowed, name)),
      ...paths.filter((path) => lets.path(parent, path) && lets.path(wanted, path) && !lets.path(narrowed, path)),
      ...names.filter((host) => lets.host(parent, host) && lets.host(wanted, host) && !lets.host(narrowed, host)),
    ];
    if (more.length + lost.length > 0) wrong.push({ pair, more, lost });
  }
  expect(wrong).toEqual([]);
});

test('the widest bounds remove nothing', () => {
  const random = createRandom(7);
  for (let turn = 0; turn < 100; turn += 1) {
    const bounds = anyBounds(random);
    expect(narrow(wholeBounds, bounds)).toEqual(bounds);
    expect(narrow(bounds, wholeBounds)).toEqual(bounds);
  }
});

test('an entry that is not a domain is refused', () => {
  for (const host of ['https://example.org', 'example.org/x', 'example.org:8443', 'a b', '*', ''])
    expect(turnBoundsSchema.safeParse({ ...wholeBounds, hosts: [host] }).success).toBe(false);
  expect(turnBoundsSchema.safeParse({ ...wholeBounds, hosts: ['*.example.org', '[::1]', 'localhost'] }).success).toBe(true);
});
