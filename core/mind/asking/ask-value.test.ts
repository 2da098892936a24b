import { expect, test } from 'vitest';
import * as z from 'zod';
import { systemClock } from '../../base/clock.ts';
import { stillRedacted } from '../../base/redacted.ts';
import { AppError } from '../../contracts/errors.ts';
import type { FinishReason, SafeRequest } from '../../contracts/llm.ts';
import { askValue, outputOf, valueIn, type AskingDeps } from './asking.ts';

const town = z.object({ name: z.string(), people: z.number().int().positive(), twin: z.string().optional() });
const output = outputOf('town', town);
const berlin = { name: 'Berlin', people: 3_700_000 };
const good = JSON.stringify(berlin);
const bad = '{"name":"Berlin","people":"many"}';
const usage = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 5 };

type Said = string | readonly [string, FinishReason] | AppError;

function rig(answers: readonly Said[], room = 9) {
  const asked: SafeRequest[] = [];
  const settled: unknown[] = [];
  let left = room;
  const breach = { scope: 'day' as const, unit: 'usd' as const, limit: 1, spent: 1, unknownCost: false };
  const reservation = { settle: (spent: unknown) => settled.push(spent) };
  const deps: AskingDeps = {
    clock: systemClock,
    later: () => () => undefined,
    budget: {
      reserve: () => (left-- > 0 ? { ok: true, reservation, unpriced: [], room: { usd: null, tokens: null } } : { ok: false, breach }),
    },
    models: {
      cost: () => 0.01,
      stream: (_ref, request) => {
        const said = answers[asked.push(request) - 1] ?? '';
        if (said instanceof AppError) return Promise.reject(said);
        const [text, finishReason] = typeof said === 'string' ? [said, 'stop' as const] : said;
        return Promise.resolve({ text, reasoning: '', calls: [], usage, usageReported: true, finishReason });
      },
    },
    count: (text) => text.length,
    redact: (text) => stillRedacted(text.replaceAll('sk-live-1', '[redacted:KEY]')),
  };
  const place = { sessionId: 's', turnId: 't', continues: [] };
  const question = { model: 'lab/m', place, system: 'Be brief.', text: 'Berlin?', maxOutputTokens: 100, timeoutMs: 1_000 };
  return { asked, settled, ask: (signal = new AbortController().signal) => askValue(deps, question, output, signal) };
}

test.each([
  ['plain', good],
  ['in a fence', `\`\`\`json\n${good}\n\`\`\``],
  ['in a fence with text around it', `Here it is:\n\`\`\`\n${good}\n\`\`\`\nAnything else?`],
  ['with an optional key left empty', JSON.stringify({ ...berlin, twin: null })],
  ['as JSON text for a number', JSON.stringify({ ...berlin, people: '3700000' })],
])('a valid answer %s is accepted without another call', async (_how, text) => {
  const { ask, asked, settled } = rig([text]);
  expect(await ask()).toMatchObject({ value: berlin, spent: { usage, costUsd: 0.01 } });
  expect([asked.length, settled.length]).toEqual([1, 1]);
});

test('the schema is sent as text and as a field, and the prompt is kept', async () => {
  const { ask, asked } = rig([good]);
  await ask();
  expect(asked[0]).toMatchObject({ output: { name: 'town', schema: { type: 'object', required: ['name', 'people'] } }, tools: [] });
  expect(asked[0]?.system).toMatch(/^Be brief\.\n\nAnswer with one JSON object and nothing else.*"people":\{"type":"integer"/s);
});

test('a wrong answer is sent back with its errors once, and both calls are counted', async () => {
  const { ask, asked, settled } = rig([bad, good]);
  const spent = { usage: { inputTokens: 200, outputTokens: 20, cachedInputTokens: 10 }, costUsd: 0.02 };
  expect(await ask()).toMatchObject({ value: berlin, spent });
  expect(asked[1]?.messages).toEqual([
    { role: 'user', text: 'Berlin?' },
    { role: 'assistant', text: bad, calls: [] },
    { role: 'note', text: expect.stringContaining('people must be a number') as unknown },
  ]);
  expect(settled).toMatchObject([
    { costUsd: 0.01, tokens: 110 },
    { costUsd: 0.01, tokens: 110 },
  ]);
});

test.each<[string, readonly Said[], number, string]>([
  ['wrong twice', [bad, '{"name":1}'], 2, 'name must be text'],
  ['plain text twice', ['It has many.', 'Many!'], 2, 'it is not one JSON object'],
  ['two objects', [`${bad} or ${good}`, `${good}\n${good}`], 2, 'it is not one JSON object'],
  ['a list', [`[${good}]`, `[${good}]`], 2, 'the answer as a whole'],
  ['empty twice', ['', ''], 2, 'it is not one JSON object'],
  ['thousands of levels', [`{"name":${'['.repeat(20_000)}${']'.repeat(20_000)}}`, bad], 2, 'people must be a number'],
  ['cut off', [[good.slice(0, 20), 'length']], 1, 'was cut off'],
  ['cut off the second time', [bad, [good.slice(0, 20), 'length']], 2, 'was cut off'],
  ['a refusal', [['I cannot say that.', 'content_filter']], 1, 'the model refused to answer'],
  ['wrong, then nothing answers', [bad, new AppError('model_unavailable', 'Nothing answers.')], 2, 'Nothing answers.'],
])('%s gives no value, but a reason and the cost', async (_what, answers, calls, why) => {
  const { ask, asked } = rig(answers);
  const answer = await ask();
  expect('refused' in answer && answer.refused).toContain(why);
  const billed = answers.filter((said) => !(said instanceof AppError)).length;
  expect([asked.length, answer.spent?.usage.inputTokens]).toEqual([calls, billed * 100]);
});

test('without budget neither the question nor the correction is asked', async () => {
  const none = rig([good], 0);
  expect(await none.ask()).toEqual({ refused: 'the budget of the day allows no more model calls' });
  const one = rig([bad, good], 1);
  expect(await one.ask()).toMatchObject({
    refused: expect.stringContaining('it was not asked again: the budget') as unknown,
    spent: { usage },
  });
  expect([none.asked.length, one.asked.length]).toEqual([0, 1]);
});

test('an abort between the two calls fails like an abort during a call', async () => {
  const abort = new AbortController();
  const { ask } = rig([bad, good]);
  const asked = ask(abort.signal);
  await Promise.resolve().then(() => abort.abort());
  await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
});

test('a secret in a wrong answer is redacted before it is sent back to the model', async () => {
  const { ask, asked } = rig(['the key is sk-live-1', good]);
  await ask();
  expect(asked[1]?.messages[1]).toMatchObject({ text: 'the key is [redacted:KEY]' });
});

test('a schema that is not an object is wrapped for the model and unwrapped again', () => {
  const list = outputOf('list', z.array(z.string()));
  expect(list.form.schema).toMatchObject({ type: 'object', required: ['input'] });
  expect([valueIn('{"input":["a"]}', list), valueIn('["a"]', list), valueIn('{"input":[1]}', list)]).toEqual([
    { value: ['a'] },
    { value: ['a'] },
    undefined,
  ]);
});
