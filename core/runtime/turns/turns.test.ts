import { afterEach, beforeEach, expect, test } from 'vitest';
import { AppError } from '../../contracts/errors.ts';
import { BenchTools } from '../../../tests/rigs/bench-tools.ts';
import { TurnBench } from '../../../tests/rigs/turn-bench.ts';

let tools: BenchTools;
let bench: TurnBench;

beforeEach(() => {
  tools = new BenchTools();
  bench = new TurnBench({ tools: tools.list(), limits: { queuedMessages: 2 } });
});

/** After every test: replaying each turn repeats its decisions, and the conversation reads the same from the log. */
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

test('a plain turn is packed, asked, answered and recorded', async () => {
  bench.script.push({ say: 'hello' });
  const { turnId } = bench.send('hi');
  expect(await bench.rest(turnId)).toBe('done');
  expect(bench.events(turnId).map((event) => event.type)).toEqual([
    'user.message',
    'turn.started',
    'brain.decided',
    'pack.built',
    'brain.decided',
    'model.requested',
    'model.finished',
    'brain.decided',
    'assistant.message',
    'turn.finished',
  ]);
  expect(bench.of(turnId, 'turn.finished')).toEqual([
    {
      status: 'done',
      text: 'hello',
      error: null,
      usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0 },
      costUsd: 0.5,
      modelCalls: 1,
      toolCalls: 0,
    },
  ]);
  expect(bench.asked).toEqual([{ messages: [{ role: 'user', text: 'hi' }], system: 'You are a test.', tail: undefined }]);
});

test('a wait for a turn that could not be recorded fails with the reason, also later', async () => {
  bench.onAsked = () => bench.storage.db.pragma('query_only = ON');
  const { turnId } = bench.send('hi');
  const readonly = { code: 'store_readonly' };
  await expect(bench.rest(turnId)).rejects.toMatchObject(readonly);
  await expect(bench.runtime.whenResting(turnId, 1_000)).rejects.toMatchObject(readonly);
  bench.storage.db.pragma('query_only = OFF');
  bench.onAsked = () => undefined;
  bench.runtime.continueTurn(turnId);
  expect(await bench.rest(turnId)).toBe('done');
});

test('in a tool turn the model sees the result, and the next turn the whole exchange', async () => {
  bench.script.push({ calls: [['look', { arg: 'a' }]], say: 'I look.' }, { say: 'It is a.' });
  expect(await bench.ask('what is a?')).toBe('done');
  expect(await bench.ask('and now?')).toBe('done');
  const exchange = [
    { role: 'user', text: 'what is a?' },
    { role: 'assistant', text: 'I look.', calls: [{ id: 'p1', tool: 'look', args: '{"arg":"a"}' }] },
    { role: 'tool', id: 'p1', tool: 'look', text: 'look a done', isError: false },
    { role: 'assistant', text: 'It is a.', calls: [] },
    { role: 'user', text: 'and now?' },
  ];
  expect(bench.asked.at(-1)?.messages).toEqual(exchange);
  expect(bench.reloaded().slice(0, 5)).toEqual(exchange);
});

test('reads run in parallel; calls with effects keep their place', async () => {
  tools.gate = Promise.withResolvers();
  bench.script.push({
    calls: [
      ['look', { arg: '1' }],
      ['look', { arg: '2' }],
      ['look', { arg: '3' }],
    ],
  });
  const { turnId } = bench.send('look thrice');
  await until(() => tools.active === 3);
  tools.gate.resolve();
  tools.gate = null;
  expect(await bench.rest(turnId)).toBe('done');

  bench.script.push({
    calls: [
      ['put', { arg: '1' }],
      ['look', { arg: '2' }],
      ['fire', { arg: '3' }],
      ['look', { arg: '4' }],
    ],
  });
  const second = bench.send('change and look');
  await bench.rest(second.turnId);
  for (const approval of bench.policy.pendingApprovals()) bench.decide('approve', { kind: 'once' }, approval);
  expect(await bench.rest(second.turnId)).toBe('done');
  expect([...tools.ran.slice(3), tools.activeMost]).toEqual(['put 1', 'look 2', 'fire 3', 'look 4', 3]);
});

test('invalid arguments, unknown and disabled tools are reported to the model, not run', async () => {
  bench.script.push({
    calls: [
      ['look', { wrong: 1 }],
      ['lok', { arg: 'a' }],
      ['forbidden', { arg: 'a' }],
    ],
  });
  expect(await bench.ask('go')).toBe('done');
  const results = bench.asked[1]?.messages.filter((message) => message.role === 'tool');
  expect(results).toMatchObject([
    { isError: true },
    { isError: true, text: expect.stringContaining('Did you mean look') as string },
    { isError: true },
  ]);
  expect(tools.ran).toEqual([]);
});

test('a message to a running turn reaches the next request, after the open calls', async () => {
  tools.gate = Promise.withResolvers();
  bench.script.push({ calls: [['look', { arg: 'a' }]] });
  const { turnId } = bench.send('look');
  await until(() => tools.active === 1);
  bench.runtime.steer(turnId, 'be brief', 'ada');
  tools.gate.resolve();
  expect(await bench.rest(turnId)).toBe('done');
  expect(bench.asked[1]?.messages.slice(-2)).toMatchObject([{ role: 'tool' }, { role: 'user', text: 'be brief' }]);
  expect(() => bench.runtime.steer(turnId, 'too late', 'ada')).toThrow(expect.objectContaining({ code: 'turn_not_running' }) as Error);
});

test('a message that arrives while the model answers is not left unanswered', async () => {
  bench.script.push({ say: 'first' }, { say: 'second' });
  bench.onAsked = () => {
    bench.onAsked = () => undefined;
    bench.runtime.steer('trn_1', 'and in French?', 'ada');
  };
  expect(await bench.ask('hello')).toBe('done');
  expect(bench.of('trn_1', 'turn.finished')).toMatchObject([{ text: 'second' }]);
});

test('messages to a busy session wait in order, and a full queue refuses', async () => {
  bench.script.push({ hang: true });
  const first = bench.send('one');
  await until(() => bench.asked.length === 1);
  const second = bench.send('two');
  const third = bench.send('three');
  expect(() => bench.send('four')).toThrow(expect.objectContaining({ code: 'queue_full' }) as Error);
  expect(bench.log.index.turn(third.turnId)?.status).toBe('queued');
  bench.runtime.steer(third.turnId, 'and a half', 'ada');
  bench.runtime.cancel(first.turnId, 'enough', 'person');
  expect(await bench.rest(first.turnId)).toBe('cancelled');
  expect([await bench.rest(second.turnId), await bench.rest(third.turnId)]).toEqual(['done', 'done']);
  const said = bench.asked.at(-1)?.messages.flatMap((message) => (message.role === 'user' ? [message.text] : []));
  expect(said).toEqual(['one', 'two', 'three\n\nand a half']);
});

test('cancelling a queued message does not affect the calls of the running turn', async () => {
  tools.gate = Promise.withResolvers();
  bench.script.push({ calls: [['look', { arg: 'a' }]] });
  const first = bench.send('look');
  await until(() => tools.active === 1);
  const queued = bench.send('never mind');
  const resting = bench.rest(queued.turnId);
  bench.runtime.cancel(queued.turnId, 'changed my mind', 'person');
  expect(await resting).toBe('cancelled');
  tools.gate.resolve();
  expect(await bench.rest(first.turnId)).toBe('done');
  expect(bench.asked[1]?.messages.at(-1)).toMatchObject({ role: 'tool', text: 'look a done' });
  expect(bench.asked).toHaveLength(2);
});

test('a running call is aborted and has its result before the turn ends cancelled', async () => {
  tools.gate = Promise.withResolvers();
  bench.script.push({ calls: [['look', { arg: 'a' }]] });
  const { turnId } = bench.send('look');
  await until(() => tools.active === 1);
  bench.runtime.cancel(turnId, 'ada stopped it.', 'person');
  expect(await bench.rest(turnId)).toBe('cancelled');
  expect(bench.of(turnId, 'tool.finished')).toMatchObject([{ outcome: 'cancelled' }]);
  tools.gate = null;
  expect(await bench.ask('go on')).toBe('done');
});

test('the panic stop ends running and queued turns, keeps waiting ones, admits none', async () => {
  bench.script.push({ calls: [['put', { arg: 'a' }]] });
  const waiting = bench.send('write');
  expect(await bench.rest(waiting.turnId)).toBe('waiting');
  bench.script.push({ hang: true });
  const running = bench.send('think', { sessionId: 's2' });
  await until(() => bench.asked.length === 2);
  const queued = bench.send('later', { sessionId: 's2' });
  bench.panic.engage(bench.clock.nowMs(), 'stop');
  bench.runtime.stopAll('The panic stop was pressed.');
  expect([await bench.rest(running.turnId), await bench.rest(queued.turnId), await bench.rest(waiting.turnId)]).toEqual([
    'stopped',
    'stopped',
    'waiting',
  ]);
  expect(() => bench.send('hello', { sessionId: 's3' })).toThrow(expect.objectContaining({ code: 'panic_engaged' }) as Error);
});

test('a failing model ends the turn with a hint; a refused pack is retried smaller', async () => {
  bench.script.push({ fail: new AppError('model_auth', 'The key was refused.') });
  expect(await bench.ask('hi')).toBe('failed');
  expect(bench.of('trn_1', 'turn.finished')).toMatchObject([
    { error: { code: 'model_auth', hint: expect.stringContaining('key') as string } },
  ]);
  bench.script.push({ fail: new AppError('model_context_overflow', 'Too long.') }, { say: 'fits' });
  expect(await bench.ask('again')).toBe('done');
  const overflow = (): AppError => new AppError('model_context_overflow', 'Too long.');
  bench.script.push({ fail: overflow() }, { fail: overflow() });
  expect(await bench.ask('and again')).toBe('failed');
});

test('the same delivery twice is one message', async () => {
  const first = bench.send('once', { dedupeKey: 'update-1' });
  expect(bench.send('once', { dedupeKey: 'update-1' })).toEqual(first);
  await bench.rest(first.turnId);
  expect(bench.send('once', { dedupeKey: 'update-1' })).toEqual(first);
  expect(bench.asked).toHaveLength(1);
});

test('a direct call passes the same gate, needs no model, and is noted for the model', async () => {
  const look = bench.direct('look', { arg: 'a' });
  expect(await bench.rest(look.turnId)).toBe('done');
  const put = bench.direct('put', { arg: 'b' });
  expect(await bench.rest(put.turnId)).toBe('waiting');
  // The call waits next to the conversation, not before it.
  expect(await bench.ask('what did I do?')).toBe('done');
  bench.decide('approve');
  expect(await bench.rest(put.turnId)).toBe('done');
  expect(tools.ran).toEqual(['look a', 'put b']);
  expect(bench.asked[0]?.messages).toEqual([
    { role: 'note', text: 'The person ran look {"arg":"a"} directly. Result:\nlook a done' },
    { role: 'user', text: 'what did I do?' },
  ]);
});

test('an unknown turn and a closing runtime fail with their errors', async () => {
  expect(() => bench.runtime.cancel('trn_9', 'x', 'person')).toThrow(expect.objectContaining({ code: 'not_found' }) as Error);
  await expect(bench.runtime.whenResting('trn_9')).rejects.toThrow(expect.objectContaining({ code: 'not_found' }));
  bench.script.push({ hang: true });
  const { turnId } = bench.send('think');
  expect(await bench.runtime.whenResting(turnId, 1)).toBeNull();
  const resting = bench.runtime.whenResting(turnId);
  await bench.runtime.dispose();
  expect(await resting).toMatchObject({ status: 'running' });
  expect(() => bench.send('more')).toThrow(expect.objectContaining({ code: 'shutting_down' }) as Error);
});
