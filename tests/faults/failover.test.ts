// The behaviour of a route when a candidate fails: every class of error at every point of the answer, with text and with a tool call. The
// servers refuse what the vendor refuses, and a request that no script expects fails the test.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer, Reply } from '../doubles/scripted-model.ts';
import { bodiesOf, openFailover, runCase, type FailoverCase, type FailoverRig, type Script } from './failover-rig.ts';

type Kind = 'text' | 'tool';
/** moves: the second candidate answers. stays: the first one's answer counts. fails: the turn fails, and no other candidate is asked. */
type Outcome = 'moves' | 'stays' | 'fails';

interface Fault {
  readonly name: string;
  readonly outcome: Outcome;
  readonly answer: (whole: Reply) => Answer | 'refused';
  /** Probably paid, because the answer had begun. */
  readonly isBilled?: boolean;
}

const before: readonly Fault[] = [
  { name: 'wrong-key', outcome: 'moves', answer: () => ({ refuse: 'unauthorized' }) },
  { name: 'no-credit', outcome: 'moves', answer: () => ({ refuse: 'quota' }) },
  { name: 'rate-limit', outcome: 'moves', answer: () => ({ refuse: 'rate-limited' }) },
  { name: 'retry-after', outcome: 'moves', answer: () => ({ refuse: 'rate-limited', retryAfterSeconds: 30 }) },
  { name: 'overloaded', outcome: 'moves', answer: () => ({ refuse: 'overloaded' }) },
  { name: 'server-error', outcome: 'moves', answer: () => ({ refuse: 'server-error' }) },
  { name: 'silent', outcome: 'moves', answer: () => ({ silent: true }) },
  { name: 'refused', outcome: 'moves', answer: () => 'refused' },
  { name: 'rejected', outcome: 'moves', answer: () => ({ refuse: 'rejected' }) },
  { name: 'unknown-model', outcome: 'moves', answer: () => ({ refuse: 'unknown-model' }) },
  { name: 'too-long', outcome: 'moves', answer: () => ({ refuse: 'context-overflow' }) },
  { name: 'dropped', outcome: 'moves', answer: () => ({ raw: '', ending: 'drop' }) },
  { name: 'html', outcome: 'moves', answer: () => ({ raw: '<html>Bad gateway</html>', status: 502 }) },
  { name: 'nonsense', outcome: 'moves', answer: () => ({ raw: 'hello there\n\n' }) },
  {
    name: 'filter',
    outcome: 'fails',
    answer: () => ({ raw: '{"error":{"message":"filtered","code":"content_filter","type":null}}', status: 400 }),
  },
];

const during: readonly Fault[] = (['cut', 'close', 'stall', 'malformed'] as const).map((kind) => ({
  name: kind,
  outcome: 'moves',
  isBilled: true,
  answer: (whole) => ({ ...whole, pieceChars: 4, trouble: { kind, afterFrames: 3 } }),
}));
const duringErrors: readonly Fault[] = (['server-error', 'overloaded', 'rate-limited', 'quota'] as const).map((error) => ({
  name: `says-${error}`,
  outcome: 'moves',
  isBilled: true,
  answer: (whole) => ({ ...whole, pieceChars: 4, trouble: { kind: 'error', afterFrames: 3, error } }),
}));
/** After the beginning, the text or the call with its arguments, the finish and the usage, a failure does not affect the answer. */
const after: readonly Fault[] = (['cut', 'close', 'stall'] as const).map((kind) => ({
  name: kind,
  outcome: 'stays',
  answer: (whole) => ({ ...whole, trouble: { kind, afterFrames: whole.calls === undefined ? 4 : 5 } }),
}));

const positions: readonly (readonly [string, readonly Fault[]])[] = [
  ['before', before],
  ['during', [...during, ...duringErrors]],
  ['after', after],
];

interface TableCase extends FailoverCase {
  readonly kind: Kind;
  readonly fault: Fault;
}

const wholeOf = (place: string, kind: Kind, name: string): Reply =>
  kind === 'text' ? { text: `fine from ${place}` } : { calls: [{ tool: 'mark', args: { n: `${name}-${place}` } }] };

/** Complete answers: first the call, if the case has one, then text. */
function healthy(place: string, kind: Kind, name: string): Script {
  return ({ toolResults }) => (kind === 'tool' && toolResults.length === 0 ? wholeOf(place, kind, name) : { text: `fine from ${place}` });
}

const cases: readonly TableCase[] = positions.flatMap(([position, faults]) =>
  faults.flatMap((fault) =>
    (['text', 'tool'] as const).map((kind): TableCase => {
      const name = `${position}-${fault.name}-${kind}`;
      const first = fault.answer(wholeOf('a', kind, name));
      const well = healthy('a', kind, name);
      const a: Script | 'refused' = first === 'refused' ? 'refused' : (request, at) => (at === 0 ? first : well(request, at));
      return { name, kind, fault, candidates: { a, b: healthy('b', kind, name) } };
    }),
  ),
);

let rig: FailoverRig;
beforeAll(async () => {
  rig = await openFailover(cases, 2_000);
});
afterAll(async () => {
  expect(rig.servers.byPlace.a.violations).toEqual([]);
  expect(rig.servers.byPlace.b.violations).toEqual([]);
  await rig.close();
});

test.concurrent.each(cases)('$name', async ({ name, kind, fault }) => {
  const { servers, claw, effects } = rig;
  const ended = await runCase(claw, name, `do ${name}`);
  const requested = bodiesOf(ended, 'model.requested');
  const failed = bodiesOf(ended, 'model.failed');
  const firsts = kind === 'tool' && fault.outcome !== 'fails' ? 2 : 1;
  if (fault.outcome === 'fails') {
    expect([ended.status, servers.asked('b', name), failed[0]?.failover]).toEqual(['failed', 0, undefined]);
    return;
  }
  const answeredBy = fault.outcome === 'moves' ? 'b' : 'a';
  expect([ended.status, ended.text]).toEqual(['done', `fine from ${answeredBy}`]);
  // Each complete answer was requested once.
  expect(bodiesOf(ended, 'model.finished')).toHaveLength(firsts);
  expect(servers.asked(answeredBy, name)).toBe(firsts);
  expect([...effects].filter(([n]) => n.startsWith(`${name}-`))).toEqual(kind === 'tool' ? [[`${name}-${answeredBy}`, 1]] : []);
  const { route } = requested.at(-1) ?? {};
  expect(route).toMatchObject({ name, reason: expect.any(String) as string });
  if (fault.outcome === 'stays') {
    expect([failed, servers.asked('b', name)]).toEqual([[], 0]);
    return;
  }
  expect(failed).toHaveLength(1);
  expect(failed[0]).toMatchObject({ failover: { to: `b-${name}/${name}`, waitMs: 0 } });
  // An answer that had begun counts as paid; any other does not.
  expect(failed[0]?.usage !== undefined).toBe(fault.isBilled === true);
  expect(requested.map(({ model }) => model.slice(0, 1)).join('')).toBe(kind === 'tool' ? 'abb' : 'ab');
});
