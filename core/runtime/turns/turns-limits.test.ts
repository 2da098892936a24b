import { expect, onTestFinished, test } from 'vitest';
import { BenchTools } from '../../../tests/rigs/bench-tools.ts';
import { TurnBench, type BenchOptions, type Reply } from '../../../tests/rigs/turn-bench.ts';

function open(options: BenchOptions = {}): { bench: TurnBench; tools: BenchTools } {
  const tools = new BenchTools();
  const bench = new TurnBench({ tools: tools.list(), ...options });
  onTestFinished(async () => {
    expect(bench.replay('trn_1')).toMatchObject({ identical: true, differences: [] });
    await bench.dispose();
  });
  return { bench, tools };
}

const look = (arg: string): Reply => ({ calls: [['look', { arg }]] });
const errorOf = (bench: TurnBench): unknown => bench.of('trn_1', 'turn.finished')[0]?.error;

test('a repeated call with one result is noted at 3, then refused, and stopped at 12', async () => {
  const { bench, tools } = open();
  for (let i = 0; i < 20; i++) bench.script.push(look('a'));
  expect(await bench.ask('look')).toBe('failed');
  expect(errorOf(bench)).toMatchObject({ code: 'loop_detected' });
  expect(tools.ran).toEqual(['look a', 'look a', 'look a']);
  expect(bench.asked).toHaveLength(12);
  expect(bench.of('trn_1', 'tool.rejected')).toHaveLength(9);
  expect(bench.of('trn_1', 'reflection.recorded')[0]?.why).toBe('The same call gave the same result again.');
  expect(bench.asked[3]?.messages.at(-1)).toMatchObject({ role: 'note' });
});

test('a different result each time is not a loop', async () => {
  const { bench, tools } = open();
  let count = 0;
  tools.result = () => `result ${(count += 1)}`;
  for (let i = 0; i < 6; i++) bench.script.push(look('a'));
  expect(await bench.ask('look')).toBe('done');
  expect(tools.ran).toHaveLength(6);
});

test('a turn has a limit of model calls and of time', async () => {
  const steps = open({ limits: { steps: 2 } });
  for (let i = 0; i < 5; i++) steps.bench.script.push(look(String(i)));
  expect(await steps.bench.ask('look')).toBe('failed');
  expect([errorOf(steps.bench), steps.bench.asked.length]).toMatchObject([{ code: 'step_limit' }, 2]);

  const time = open({ limits: { turnMs: 60_000 } });
  time.bench.onAsked = () => time.bench.clock.advance(30_000);
  for (let i = 0; i < 5; i++) time.bench.script.push(look(String(i)));
  expect(await time.bench.ask('look')).toBe('failed');
  expect([errorOf(time.bench), time.bench.asked.length]).toMatchObject([{ code: 'time_limit' }, 2]);
});

test('waiting for a person and time with the program off do not count against the time limit', async () => {
  const dayMs = 86_400_000;
  const { bench, tools } = open({ limits: { turnMs: 60_000 } });
  const put = (arg: string): Reply => ({ calls: [['put', { arg }]] });
  bench.script.push(put('a'), put('b'), { hang: true });
  const { turnId } = bench.send('write');
  expect(await bench.rest(turnId)).toBe('waiting');
  bench.clock.advance(dayMs);
  bench.decide('approve');
  expect(await bench.rest(turnId)).toBe('waiting');
  bench.clock.advance(dayMs);
  await bench.restart();
  bench.decide('approve');
  await expect.poll(() => bench.asked.length).toBe(3);
  bench.clock.advance(dayMs);
  bench.script.push(look('a'), look('b'), look('c'));
  bench.onAsked = () => bench.clock.advance(30_000);
  await bench.restart();
  expect(await bench.rest(turnId)).toBe('failed');
  expect([errorOf(bench), tools.ran]).toMatchObject([{ code: 'time_limit' }, ['put a', 'put b', 'look a', 'look b']]);
});

test('a machine that sleeps, or a clock that is set, does not use up the time of a turn', async () => {
  const { bench, tools } = open({ limits: { turnMs: 60_000 } });
  for (let i = 0; i < 3; i++) bench.script.push(look(String(i)));
  bench.onAsked = () => bench.clock.set(3 * 86_400_000);
  expect(await bench.ask('look')).toBe('done');
  expect(tools.ran).toEqual(['look 0', 'look 1', 'look 2']);

  bench.onAsked = () => bench.clock.set(-86_400_000);
  expect(await bench.ask('look back')).toBe('done');
});

test('a used-up budget ends the turn before the model is asked again', async () => {
  let spent = 0;
  const { bench } = open({
    budget: {
      reserve: () =>
        spent >= 1
          ? { ok: false, breach: { scope: 'day', unit: 'usd', limit: 1, spent, unknownCost: false } }
          : {
              ok: true,
              reservation: { settle: (call) => void (spent += call?.costUsd ?? 0) },
              unpriced: [],
              room: { usd: null, tokens: null },
            },
      finishTurn: () => undefined,
    },
  });
  for (let i = 0; i < 5; i++) bench.script.push(look(String(i)));
  expect(await bench.ask('look')).toBe('over_budget');
  expect(bench.asked).toHaveLength(2);
  expect(bench.of('trn_1', 'budget.exceeded')).toEqual([{ scope: 'day', unit: 'usd', limit: 1, spent: 1 }]);
  expect(bench.of('trn_1', 'turn.finished')).toMatchObject([{ status: 'over_budget', costUsd: 1, error: { code: 'over_budget' } }]);
});

test('reads beyond the limit wait for those before them', async () => {
  const { bench, tools } = open({ limits: { parallelReads: 2 } });
  bench.script.push({ calls: ['1', '2', '3', '4', '5'].map((arg) => ['look', { arg }] as const) });
  expect(await bench.ask('look')).toBe('done');
  expect([tools.ran, tools.activeMost]).toEqual([['look 1', 'look 2', 'look 3', 'look 4', 'look 5'], 2]);
});

test('a long conversation is packed within the window, and omissions are recorded', async () => {
  const { bench } = open({ contextTokens: 1_024 });
  for (let i = 0; i < 8; i++) expect(await bench.ask(`${i} ${'word '.repeat(100)}`)).toBe('done');
  const packs = bench.events('trn_8').flatMap((event) => (event.type === 'pack.built' ? [event.body] : []));
  const dropped = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((n) => bench.of(`trn_${n}`, 'pack.built').flatMap((pack) => pack.dropped));
  expect(dropped.length).toBeGreaterThan(0);
  expect(packs.every((pack) => pack.tokens <= pack.budgetTokens)).toBe(true);
});
