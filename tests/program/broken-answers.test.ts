// Answers that are interrupted, in each wire format: requested once more with the received part counted, never twice if one arrived
// completely, and no call of an interrupted one is run.

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { EventOf, EventType } from '../../core/contracts/events.ts';
import type { TrayClaw } from '../../core/index.ts';
import { freeTool } from '../doubles/free-tool.ts';
import { ScriptedModel, type Reply, type WireFormat } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

let home: TestHome;
let model: ScriptedModel;
let effects: number;

beforeEach(async () => {
  home = new TestHome();
  home.env['MODEL_KEY'] = 'k';
  model = await ScriptedModel.start();
  effects = 0;
});

afterEach(async () => {
  await home.dispose();
  await model.close();
});

const look = freeTool('look', {
  idempotency: () => 'pure',
  run: () => {
    effects += 1;
    return Promise.resolve({ forModel: 'seen' });
  },
});

const prices = { scripted: { inputUsdPerMillion: 1, outputUsdPerMillion: 1 } };

async function open(format: WireFormat, more: ConfigInput = {}): Promise<TrayClaw> {
  const { providers = {}, models } = model.config(format);
  const { lab } = providers;
  if (lab === undefined) throw new Error('the double has no provider');
  const config = { providers: { lab: { ...lab, prices } }, ...more, models: { ...models, ...more.models } };
  return home.open({ config, tools: [look] });
}

const words: Reply = { text: 'one two three four', pieceChars: 4 };
/** An answer cut after its first words, in each format. */
const cut: Readonly<Record<WireFormat, Reply>> = {
  openai: { ...words, trouble: { kind: 'cut', afterFrames: 3 } },
  responses: { ...words, trouble: { kind: 'cut', afterFrames: 6 } },
  anthropic: { ...words, trouble: { kind: 'cut', afterFrames: 5 } },
  ollama: { ...words, trouble: { kind: 'cut', afterFrames: 2 } },
};
const formats: readonly WireFormat[] = ['openai', 'responses', 'anthropic', 'ollama'];

async function bodies<T extends EventType>(claw: TrayClaw, sessionId: string, type: T): Promise<EventOf<T>['body'][]> {
  const { events } = await claw.op('session.get', { sessionId, limit: 500 });
  return events.flatMap((event) => (event.type === type ? [event.body as EventOf<T>['body']] : []));
}

test.each(formats)('%s: an interrupted answer is requested once more, and both are counted', async (format) => {
  model.script([{ times: 1, answer: cut[format] }, { answer: words }]);
  const claw = await open(format);
  const ended = await claw.ask('count');
  expect(ended).toMatchObject({ status: 'done', text: words.text });
  expect([model.requests.length, model.violations]).toEqual([2, []]);
  const [failed] = await bodies(claw, ended.sessionId, 'model.failed');
  expect(failed).toMatchObject({ again: true, partialText: expect.stringMatching(/^one/) as unknown, error: { code: 'model_cut_off' } });
  const [finished] = await bodies(claw, ended.sessionId, 'model.finished');
  expect(failed?.costUsd).toBeGreaterThan(0);
  const [row] = (await claw.op('usage.get', { by: 'model' })).rows;
  expect(row?.modelCalls).toBe(2);
  expect(row?.costUsd).toBeCloseTo((failed?.costUsd ?? 0) + (finished?.costUsd ?? 0), 9);
  expect(await bodies(claw, ended.sessionId, 'assistant.message')).toMatchObject([{ text: words.text }]);
  // An interrupted answer is not part of the conversation.
  await claw.ask('more', { sessionId: ended.sessionId });
  expect(JSON.stringify(model.requests.at(-1)?.body).split('one two').length).toBe(2);
  expect(await home.close(claw)).toMatchObject({ different: [] });
});

test.each(formats)('%s: a second interruption ends the turn', async (format) => {
  model.script([{ answer: cut[format] }]);
  const claw = await open(format);
  expect(await claw.ask('count')).toMatchObject({ status: 'failed', error: { code: 'model_cut_off' } });
  expect(model.requests.length).toBe(2);
});

test('without retries nothing is requested twice', async () => {
  model.script([{ answer: cut.openai }]);
  const claw = await open('openai', { models: { retries: 0 } });
  expect(await claw.ask('count')).toMatchObject({ status: 'failed', error: { code: 'model_cut_off' } });
  expect(model.requests.length).toBe(1);
});

test('without budget for a second answer none is requested', async () => {
  model.script([{ answer: cut.openai }]);
  const claw = await open('openai');
  const { sessionId } = await claw.ask('count');
  const [failed] = await bodies(claw, sessionId, 'model.failed');
  await claw.close();
  const asked = model.requests.length;
  const perTurnTokens = Math.round((failed?.usage?.inputTokens ?? 0) * 1.5);
  const tight = await open('openai', { budget: { perTurnTokens } });
  expect((await tight.ask('count')).status).toBe('over_budget');
  expect(model.requests.length - asked).toBe(1);
});

test.each<[WireFormat, Reply]>([
  ['openai', { text: 'all of it', trouble: { kind: 'cut', afterFrames: 3 } }],
  ['anthropic', { text: 'all of it', trouble: { kind: 'cut', afterFrames: 6 } }],
  ['ollama', { text: 'all of it', trouble: { kind: 'cut', afterFrames: 2 } }],
])('%s: an answer that was complete before the connection was lost is used', async (format, answer) => {
  model.script([{ answer }]);
  const claw = await open(format);
  expect(await claw.ask('say it')).toMatchObject({ status: 'done', text: 'all of it' });
  expect(model.requests.length).toBe(1);
});

test('a call in an interrupted answer is not made', async () => {
  const calls = { text: 'I look.', calls: [{ tool: 'look', args: {} }] };
  model.script([
    { times: 1, answer: { ...calls, trouble: { kind: 'cut', afterFrames: 4 } } },
    { results: 0, answer: calls },
    { results: 1, answer: { text: 'done' } },
  ]);
  const claw = await open('openai');
  expect(await claw.ask('look')).toMatchObject({ status: 'done', text: 'done' });
  expect([effects, model.requests.length]).toEqual([1, 3]);
});

test.each<[WireFormat, number]>([
  ['openai', 3],
  ['anthropic', 4],
])('%s: an answer interrupted in a call is requested once more and counted', async (format, afterFrames) => {
  const calls = { calls: [{ tool: 'look', args: {} }], pieceChars: 1 };
  model.script([
    { times: 1, answer: { ...calls, trouble: { kind: 'cut', afterFrames } } },
    { results: 0, answer: calls },
    { results: 1, answer: { text: 'done' } },
  ]);
  const claw = await open(format);
  const ended = await claw.ask('look');
  expect([ended.status, effects, model.requests.length]).toEqual(['done', 1, 3]);
  const [failed] = await bodies(claw, ended.sessionId, 'model.failed');
  expect(failed).toMatchObject({ again: true, partialText: '' });
  expect(failed?.costUsd).toBeGreaterThan(0);
});

test('after a complete answer a later one may be interrupted as well', async () => {
  const calls = { calls: [{ tool: 'look', args: {} }] };
  model.script([
    { times: 1, results: 0, answer: cut.openai },
    { results: 0, answer: calls },
    { times: 1, results: 1, answer: cut.openai },
    { results: 1, answer: { text: 'done' } },
  ]);
  const claw = await open('openai');
  expect(await claw.ask('look')).toMatchObject({ status: 'done', text: 'done' });
  expect([effects, model.requests.length]).toEqual([1, 4]);
});
