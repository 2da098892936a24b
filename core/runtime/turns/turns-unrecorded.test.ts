// Turns that the store failed: nothing can be recorded for a while, then the store accepts writes again, without a restart.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { noUsage } from '../../contracts/llm.ts';
import { BenchTools } from '../../../tests/rigs/bench-tools.ts';
import { TurnBench } from '../../../tests/rigs/turn-bench.ts';
import { until } from '../../../tests/until.ts';

let tools: BenchTools;
let bench: TurnBench;

beforeEach(() => {
  tools = new BenchTools();
  bench = new TurnBench({ tools: tools.list() });
});

afterEach(async () => {
  for (const replay of bench.replays()) expect(replay).toMatchObject({ identical: true, differences: [] });
  await bench.dispose();
});

function refuseWrites(): void {
  bench.storage.db.pragma('query_only = ON');
}

function acceptWrites(): void {
  bench.storage.db.pragma('query_only = OFF');
}

const long = 'x'.repeat(200_000);
const failed = { status: 'failed', error: { code: 'store_readonly' } };

test('a turn that could not be recorded ends as failed once the store accepts writes', async () => {
  bench.script.push({ say: long });
  bench.onAsked = refuseWrites;
  const { turnId } = bench.send('one');
  await bench.runtime.whenIdle();
  bench.onAsked = () => undefined;
  acceptWrites();
  bench.passTime(60_000);
  expect(bench.of(turnId, 'turn.finished')).toMatchObject([{ ...failed, modelCalls: 1 }]);
  expect(await bench.rest(turnId)).toBe('failed');
  bench.script.push({ say: 'two done' });
  expect(await bench.ask('two')).toBe('done');
  expect(bench.asked.at(-1)?.messages).toEqual([
    { role: 'user', text: 'one' },
    { role: 'user', text: 'two' },
  ]);
  expect(bench.timers.size).toBe(0);
});

test('an answer that is too large for a full disk ends its turn at once', async () => {
  bench.script.push({ say: long });
  // SQLite reports a full disk as soon as a write needs another page.
  bench.onAsked = () => bench.storage.db.pragma('max_page_count = 1');
  expect(await bench.ask('one').catch((cause: { code?: string }) => cause.code)).toBe('store_full');
  await bench.runtime.whenIdle();
  expect(bench.log.index.openTurns()).toEqual([]);
});

test('a new message first ends the turns that could not be recorded', async () => {
  const first = bench.send('one');
  const queued = bench.send('two');
  refuseWrites();
  await bench.runtime.whenIdle();
  expect(() => bench.send('three')).toThrow(expect.objectContaining({ code: 'store_readonly' }) as Error);
  expect(bench.log.index.openTurns()).toMatchObject([{ status: 'running' }, { status: 'queued' }]);
  acceptWrites();
  expect(await bench.ask('three')).toBe('done');
  expect([await bench.rest(first.turnId), await bench.rest(queued.turnId)]).toEqual(['failed', 'failed']);
  expect(bench.log.index.openTurns()).toEqual([]);
});

test('the result of a call that ran is kept, and a call that did not run is not recorded as requested', async () => {
  tools.result = () => {
    refuseWrites();
    return long;
  };
  bench.script.push({ calls: [['fire', { arg: 'a' }]] });
  const { turnId } = bench.send('fire');
  await bench.rest(turnId);
  bench.decide('approve');
  await bench.runtime.whenIdle();
  expect(bench.of(turnId, 'tool.finished')).toEqual([]);
  acceptWrites();
  bench.passTime(60_000);
  expect(bench.of(turnId, 'tool.finished')).toMatchObject([{ outcome: 'ok' }]);
  expect(bench.of(turnId, 'turn.finished')).toMatchObject([failed]);
  expect(bench.log.index.openCalls()).toEqual([]);
  expect(await bench.ask('again')).toBe('done');
});

test('a turn that could not be recorded continues where it stopped, and no call runs again', async () => {
  bench.script.push({ calls: [['fire', { arg: 'a' }]] }, { say: long });
  bench.onAsked = () => {
    if (bench.asked.length === 2) refuseWrites();
  };
  const { turnId } = bench.send('fire');
  await bench.rest(turnId);
  bench.decide('approve');
  await expect(bench.rest(turnId)).rejects.toMatchObject({ hint: expect.stringContaining(`trayclaw turns continue ${turnId}`) as string });
  acceptWrites();
  bench.passTime(60_000);
  expect(bench.of(turnId, 'turn.finished')).toMatchObject([{ error: { hint: expect.stringContaining('turns continue') as string } }]);
  const next = bench.runtime.takeUpEnded(turnId, 'test');
  expect(await bench.rest(next.turnId)).toBe('done');
  expect([tools.ran, bench.asked.at(-1)?.messages.map(({ role }) => role)]).toEqual([['fire a'], ['user', 'assistant', 'tool', 'note']]);
});

test('a call with an unknown outcome keeps its turn from being continued', async () => {
  tools.gate = Promise.withResolvers();
  bench.script.push({ calls: [['fire', { arg: 'a' }]] });
  const { turnId, sessionId } = bench.send('fire');
  await bench.rest(turnId);
  bench.decide('approve');
  await until(() => tools.active === 1, 'the call runs');
  await bench.restart();
  const error = { code: 'store_full' as const, message: 'The disk is full.' };
  const body = {
    status: 'failed' as const,
    text: '',
    error,
    usage: noUsage,
    costUsd: 0,
    modelCalls: 1,
    toolCalls: 1,
  };
  bench.log.append(sessionId, [{ type: 'turn.finished', turnId, phase: 'respond', body }]);
  expect(() => bench.runtime.takeUpEnded(turnId, 'test')).toThrow(`of turn ${turnId} has an unknown outcome.`);
});
