import { expect, onTestFinished, test } from 'vitest';
import { AppError } from '../../contracts/errors.ts';
import type { PackSource } from '../../mind/context/context.ts';
import { BenchTools } from '../../../tests/rigs/bench-tools.ts';
import { TurnBench, type BenchOptions } from '../../../tests/rigs/turn-bench.ts';

function open(options: BenchOptions = {}): TurnBench {
  const bench = new TurnBench({ tools: new BenchTools().list(), ...options });
  onTestFinished(() => bench.dispose());
  return bench;
}

const memory = (asked: string[], tainted = false): PackSource => ({
  section: 'memory',
  select: ({ query }) => {
    asked.push(query);
    const from = tainted ? { tainted: [{ kind: 'web' as const, where: 'x.example' }] } : {};
    return Promise.resolve([{ id: 'm', title: 'Editor', text: `about ${query}`, source: 'memory m', ...from }]);
  },
});

test('parts are chosen once per message, logged once, and sent in every request', async () => {
  const asked: string[] = [];
  const bench = open({ packSources: [memory(asked)] });
  bench.script.push({ calls: [['look', { arg: 'a' }]] });
  expect(await bench.ask('which editor?')).toBe('done');
  expect(asked).toEqual(['which editor?']);
  expect(bench.asked.map(({ tail }) => tail?.includes('about which editor?'))).toEqual([true, true]);
  const [first, second] = bench.of('trn_1', 'pack.built');
  expect([first?.tail, second?.tail, second?.tailOf]).toEqual([bench.asked[0]?.tail, undefined, first?.packId]);
  expect(bench.replay('trn_1')).toMatchObject({ identical: true });
  await bench.ask('and then?');
  expect(asked).toEqual(['which editor?', 'and then?']);
  expect(JSON.stringify(bench.asked.at(-1)?.messages)).not.toContain('about which editor?');
});

test('untrusted parts mark the session before the model sees them', async () => {
  const bench = open({ packSources: [memory([], true)] });
  await bench.ask('go');
  const types = bench.events('trn_1').map(({ type }) => type);
  expect(types.indexOf('taint.marked')).toBeGreaterThan(-1);
  expect(types.indexOf('taint.marked')).toBeLessThan(types.indexOf('pack.built'));
  expect(bench.of('trn_1', 'taint.marked')).toEqual([
    { callId: null, sources: [{ kind: 'web', where: 'x.example' }], paths: [], attached: true },
  ]);
});

test('a turn that is stopped while parts are chosen asks no model', async () => {
  const bench = open({ packSources: [{ section: 'memory', select: () => new Promise(() => undefined) }] });
  const { turnId } = bench.send('go');
  await new Promise(setImmediate);
  bench.runtime.cancel(turnId, 'enough', 'person');
  expect(await bench.rest(turnId)).toBe('cancelled');
  expect(bench.asked).toEqual([]);
});

test('the token count of a server and a too small window reach the meter', async () => {
  const seen: unknown[] = [];
  const learning = { observe: (one: unknown) => void seen.push(one), overflowed: (one: unknown) => void seen.push(one) };
  const bench = open({ learning });
  bench.script.push({ fail: new AppError('model_context_overflow', 'too long', { data: { limitTokens: 4_096 } }) });
  expect(await bench.ask('hi')).toBe('done');
  const [pack] = bench.of('trn_1', 'pack.built');
  expect(seen).toEqual([
    { ref: 'lab/m', packTokens: pack?.tokens, limitTokens: 4_096 },
    { ref: 'lab/m', fixed: expect.any(Number), flow: 5, reportedTokens: 10 },
  ]);
});
