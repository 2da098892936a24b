// Seeded sequences of failures over three candidates: no turn is lost, no complete answer is requested twice, no effect runs twice. Also
// measures the time a dead first candidate costs.

import { performance } from 'node:perf_hooks';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { TrayClaw } from '../../core/index.ts';
import type { Answer, Reply } from '../doubles/scripted-model.ts';
import { freePort } from '../free-port.ts';
import { createRandom } from '../fuzz/random.ts';
import { isSoak, soak } from '../soak.ts';
import { bodiesOf, configOf, openFailover, runCase, type FailoverCase, type FailoverRig, type Script } from './failover-rig.ts';
import { TestHome } from './test-home.ts';

const SEQUENCES = soak(60, 500);
const AT_ONCE = 12;
const TIMED = 9;
/** Longer than the pauses of a busy machine; the long run keeps a machine busy. */
const SILENT_MS = isSoak ? 12_000 : 4_000;
const TIMED_SILENT_MS = 1_000;

const passing: readonly ((whole: Reply) => Answer)[] = [
  () => ({ refuse: 'overloaded' }),
  () => ({ refuse: 'server-error' }),
  () => ({ refuse: 'rate-limited', retryAfterSeconds: 0.05 }),
  () => ({ silent: true }),
  () => ({ raw: '', ending: 'drop' }),
  (whole) => ({ ...whole, pieceChars: 3, trouble: { kind: 'cut', afterFrames: 3 } }),
  (whole) => ({ ...whole, pieceChars: 3, trouble: { kind: 'close', afterFrames: 4 } }),
  (whole) => ({ ...whole, pieceChars: 3, trouble: { kind: 'stall', afterFrames: 3 } }),
  (whole) => ({ ...whole, pieceChars: 3, trouble: { kind: 'malformed', afterFrames: 2 } }),
  (whole) => ({ ...whole, pieceChars: 3, trouble: { kind: 'error', afterFrames: 3, error: 'overloaded' } }),
];
const lasting: readonly Answer[] = [{ refuse: 'unauthorized' }, { refuse: 'quota' }, { refuse: 'unknown-model' }, { refuse: 'rejected' }];

interface Sequence extends FailoverCase {
  /** Complete answers that the servers sent. */
  readonly sent: string[];
}

/** At most two candidates never answer; the others fail at the start or in the middle of the turn, and then answer. */
function sequenceOf(seed: number): Sequence {
  const random = createRandom(seed);
  const name = `seq-${seed}`;
  const steps = random.below(4);
  const sent: string[] = [];
  const dead = random.below(3);
  const places = ['a', 'b', 'c'] as const;
  const mortal = [random.pick(places), random.pick(places)].slice(0, dead);
  const scriptOf = (place: (typeof places)[number]): Script | 'refused' => {
    if (mortal.includes(place)) {
      if (random.chance(0.3)) return 'refused';
      const refusal = random.pick(lasting);
      return () => refusal;
    }
    const faults = new Map(Array.from({ length: 1 + random.below(2) }, () => [random.below(4), random.pick(passing)] as const));
    return ({ toolResults }, at) => {
      const isCall = toolResults.length < steps;
      const id = `${name}-${place}-${at}`;
      const whole: Reply = isCall ? { calls: [{ tool: 'mark', args: { n: id } }] } : { text: `done ${id}` };
      const fault = faults.get(at);
      if (fault !== undefined) return fault(whole);
      sent.push(id);
      return whole;
    };
  };
  return { name, sent, candidates: { a: scriptOf('a'), b: scriptOf('b'), c: scriptOf('c') } };
}

const sequences = Array.from({ length: SEQUENCES }, (_, seed) => sequenceOf(seed + 1));
const quick =
  (place: string): Script =>
  () => ({ text: place });
/** Each turn has a separate pair of models, so that it does not know what an earlier turn found out. */
const pairs = Array.from({ length: TIMED }, (_, n): FailoverCase[] => [
  { name: `refused-${n}`, candidates: { a: 'refused', b: quick('b') } },
  { name: `silent-${n}`, candidates: { a: () => ({ silent: true }), b: quick('b') } },
  { name: `well-${n}`, candidates: { b: quick('b') } },
]).flat();

let rig: FailoverRig;
beforeAll(async () => {
  rig = await openFailover(sequences, SILENT_MS, pairs);
});
afterAll(() => rig.close());

/** Runs a sequence and compares the expected with the actual result. */
async function run({ name, sent }: Sequence): Promise<void> {
  const { claw, effects } = rig;
  const ended = await runCase(claw, name, `work on ${name}`);
  const finished = bodiesOf(ended, 'model.finished');
  const used = finished.map(({ text, calls }) =>
    calls[0] === undefined ? text.replace('done ', '') : (JSON.parse(calls[0].args) as { n: string }).n,
  );
  const ran = [...effects].filter(([n]) => n.startsWith(`${name}-`));
  const calls = finished.flatMap((reply) => reply.calls.map(({ args }) => [(JSON.parse(args) as { n: string }).n, 1]));
  const about = `${name}: ${bodiesOf(ended, 'model.failed')
    .map(({ error, failover }) => `${error.code}→${failover?.to ?? 'end'}`)
    .join(' ')}`;
  expect([about, ended.status]).toEqual([about, 'done']);
  expect([about, used]).toEqual([about, sent]);
  expect([about, ran]).toEqual([about, calls]);
}

test(`${SEQUENCES} sequences: no turn lost, no answer paid twice, no effect twice`, { timeout: 60_000 + SEQUENCES * 3_000 }, async () => {
  const waiting = [...sequences];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  expect(sequences.flatMap(({ sent }) => sent).length).toBeGreaterThan(SEQUENCES);
});

/** The minimum, because other work on the machine only adds time. */
const quietest = (values: readonly number[]): number => Math.min(...values);

async function timed(program: TrayClaw, kind: string): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < TIMED; n++) {
    const fromMs = performance.now();
    const { text } = await program.ask('hi', { agentId: `${kind}-${n}` });
    took.push(performance.now() - fromMs);
    expect(text).toBe('b');
  }
  return took;
}

test('a refused connection costs 50 ms at most, a silent server its timeout', { timeout: 60_000 }, async () => {
  const own = new TestHome();
  onTestFinished(() => own.dispose());
  const program = await own.open({ config: configOf(rig.servers, pairs, { closedPort: await freePort(), silentMs: TIMED_SILENT_MS }) });
  const usualMs = quietest(await timed(program, 'well'));
  const refusedMs = quietest(await timed(program, 'refused'));
  const silentMs = quietest(await timed(program, 'silent'));
  const told = `well ${usualMs.toFixed(1)} ms, refused ${refusedMs.toFixed(1)} ms, silent ${silentMs.toFixed(1)} ms (limit ${TIMED_SILENT_MS})`;
  process.stdout.write(`first candidate ${told}\n`);
  expect(refusedMs - usualMs).toBeLessThan(50);
  expect(silentMs).toBeGreaterThanOrEqual(TIMED_SILENT_MS);
  expect(silentMs - usualMs).toBeLessThan(TIMED_SILENT_MS + 200);
});
