import { afterEach, beforeEach, expect, test } from 'vitest';
import { BenchTools } from '../../../tests/rigs/bench-tools.ts';
import { TurnBench } from '../../../tests/rigs/turn-bench.ts';

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

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 1000 && !condition(); i++)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  expect(condition()).toBe(true);
}

/** Starts a call that does not return before the program ends. */
async function cutOff(tool: string, approve: boolean): Promise<string> {
  tools.gate = Promise.withResolvers();
  bench.script.push({ calls: [[tool, { arg: 'a' }]] });
  const { turnId } = bench.send(`do ${tool}`);
  if (approve) {
    await bench.rest(turnId);
    bench.decide('approve');
  }
  await until(() => tools.active === 1);
  // A pure call's request is written a moment later.
  await until(() => bench.of(turnId, 'tool.requested').length === 1);
  return turnId;
}

test('a model that was being asked is asked again, and queued messages follow', async () => {
  bench.script.push({ hang: true });
  const first = bench.send('one');
  const second = bench.send('two');
  await until(() => bench.asked.length === 1);
  bench.script.push({ say: 'one done' }, { say: 'two done' });
  expect(await bench.restart()).toEqual({ recoveredTurns: 1, unknownOutcomes: 0, reaped: 0 });
  expect([await bench.rest(first.turnId), await bench.rest(second.turnId)]).toEqual(['done', 'done']);
  expect(bench.of(first.turnId, 'turn.finished')).toMatchObject([{ text: 'one done' }]);
  expect(bench.of(second.turnId, 'turn.finished')).toMatchObject([{ text: 'two done' }]);
});

test('a pure call runs again', async () => {
  const turnId = await cutOff('look', false);
  tools.gate = null;
  await bench.restart();
  expect(await bench.rest(turnId)).toBe('done');
  expect(tools.ran).toEqual(['look a', 'look a']);
  expect(bench.of(turnId, 'tool.finished')).toMatchObject([{ outcome: 'ok' }]);
});

test('an idempotent call runs again with the same key and the same approval', async () => {
  const turnId = await cutOff('put', true);
  tools.gate = null;
  await bench.restart();
  expect(await bench.rest(turnId)).toBe('done');
  expect(tools.ran).toEqual(['put a', 'put a']);
  expect(bench.of(turnId, 'tool.requested').map((body) => body.idempotencyKey)).toEqual(['call_1', 'call_1']);
  expect(bench.of(turnId, 'grant.spent')).toHaveLength(1);
});

test('a call that may have happened is not repeated: a person settles it', async () => {
  const turnId = await cutOff('fire', true);
  tools.gate = null;
  expect(await bench.restart()).toEqual({ recoveredTurns: 1, unknownOutcomes: 1, reaped: 0 });
  expect(await bench.rest(turnId)).toBe('waiting');
  expect(bench.log.index.openCalls()).toMatchObject([{ callId: 'call_1', state: 'unknown' }]);
  // After another start the approval is still pending.
  await bench.restart();
  expect(await bench.rest(turnId)).toBe('waiting');
  expect(bench.of(turnId, 'tool.outcome_unknown')).toHaveLength(1);
  const settled = { callId: 'call_1', answer: 'retry', by: 'ada' } as const;
  bench.runtime.appendToTurn('s1', turnId, [{ type: 'tool.outcome_settled', turnId, body: settled }]);
  bench.runtime.continueTurn(turnId);
  expect(await bench.rest(turnId)).toBe('done');
  expect(tools.ran).toEqual(['fire a', 'fire a']);
});

test('a pending approval is still pending, and answering it continues the turn', async () => {
  bench.script.push({ calls: [['put', { arg: 'a' }]] });
  const { turnId } = bench.send('write');
  await bench.rest(turnId);
  const behind = bench.send('and then');
  await bench.restart();
  expect(await bench.rest(turnId)).toBe('waiting');
  expect(bench.log.index.turn(behind.turnId)?.status).toBe('queued');
  bench.decide('approve');
  expect([await bench.rest(turnId), await bench.rest(behind.turnId)]).toEqual(['done', 'done']);
  expect(tools.ran).toEqual(['put a']);
});

test('a direct call that waits across a restart does not block its conversation', async () => {
  const { turnId } = bench.direct('put', { arg: 'a' });
  await bench.rest(turnId);
  await bench.restart();
  expect(await bench.ask('hello')).toBe('done');
  bench.decide('approve');
  expect(await bench.rest(turnId)).toBe('done');
});

test('during a panic stop nothing continues, and conversations keep their order', async () => {
  bench.script.push({ calls: [['put', { arg: 'a' }]] });
  const { turnId } = bench.send('write');
  await bench.rest(turnId);
  const direct = bench.direct('put', { arg: 'b' }, 's2');
  await bench.rest(direct.turnId);
  await bench.runtime.dispose();
  bench.storage.dispose();
  bench.open();
  bench.runtime.holdWaiting();
  const behind = bench.send('and then');
  expect(bench.log.index.turn(behind.turnId)?.status).toBe('queued');
  expect(await bench.ask('hello', { sessionId: 's2' })).toBe('done');
});

test('one unreadable turn does not keep the others from continuing', async () => {
  bench.script.push({ hang: true }, { hang: true });
  const bad = bench.send('one', { sessionId: 's1' });
  const good = bench.send('two', { sessionId: 's2' });
  await until(() => bench.asked.length === 2);
  bench.storage.db.prepare("UPDATE events SET body = '{' WHERE turn_id = ? AND type = 'turn.started'").run(bad.turnId);
  await bench.restart();
  expect(await bench.rest(good.turnId)).toBe('done');
  expect(bench.notes).toContain('error: a turn could not be taken up');
  bench.storage.db.prepare('DELETE FROM turns WHERE turn_id = ?').run(bad.turnId);
});

test('a conversation read from the log equals the one held in memory', async () => {
  bench.script.push(
    {
      calls: [
        ['look', { arg: 'a' }],
        ['look', { arg: 'b' }],
        ['put', { arg: 'c' }],
      ],
      say: 'I look.',
    },
    { calls: [['nothing', { arg: 'x' }]] },
    { say: 'that was it' },
    { say: 'ok' },
  );
  const { turnId } = bench.send('go');
  await bench.rest(turnId);
  bench.decide('deny');
  await bench.rest(turnId);
  await bench.rest(bench.direct('look', { arg: 'd' }).turnId);
  await bench.ask('last');
  const hot = bench.asked.at(-1)?.messages ?? [];
  expect(bench.reloaded().slice(0, hot.length)).toEqual(hot);
  await bench.restart();
  await bench.ask('after the restart');
  expect(bench.asked.at(-1)?.messages.slice(0, hot.length)).toEqual(hot);
});
