// OpenRouter's reasoning: it goes back with its calls, under their present ids, and only to the model that produced it.

import { expect, test } from 'vitest';
import { vendorRefusal } from '../../../tests/doubles/vendors/vendors.ts';
import { createRequest, createRouter, readFixture, RecordingSink, result, user } from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { ScriptedServer, type Script } from '../../../tests/rigs/core/mind/llm/scripted-server.ts';
import { AppError } from '../../contracts/errors.ts';
import type { ChatMessage } from '../../contracts/llm.ts';
import { OpenAiReader } from './openai-reader.ts';
import { answerBytesMax } from './reply-reader.ts';

const { signal } = new AbortController();
const gemini = 'google/gemini-3-flash-preview';
const ok: Script = { chunks: [readFixture('openai-text.txt')] };
const chunk = (delta: object, more: object = {}): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta, ...more }] })}\n\n`;

/** The gateway gives the calls of each answer the same id, and the encrypted thought names it. */
const answer: Script = {
  chunks: [
    chunk({ reasoning: 'I ', reasoning_details: [{ type: 'reasoning.text', text: 'I ', format: 'google-gemini-v1', index: 0 }] }),
    chunk({ reasoning: 'look.', reasoning_details: [{ type: 'reasoning.text', text: 'look.', signature: null, index: 0 }] }),
    chunk({
      tool_calls: [{ index: 0, id: 'tool_0_get_weather', type: 'function', function: { name: 'get_weather', arguments: '{}' } }],
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'sig', id: 'tool_0_get_weather', format: 'google-gemini-v1', index: 1 }],
    }),
    chunk({}, { finish_reason: 'tool_calls' }),
    'data: [DONE]\n\n',
  ],
};

interface Sent {
  readonly reasoning_details?: readonly { readonly type: string; readonly id?: string; readonly data?: string }[];
  readonly tool_calls?: readonly { readonly id: string }[];
}

const bodies = (server: ScriptedServer) => server.seen.map(({ body }) => JSON.parse(body) as { messages: Sent[] });
const details = (server: ScriptedServer, at: number) => bodies(server)[at]?.messages.flatMap((one) => one.reasoning_details ?? []);

function open(server: ScriptedServer, extra: object = { preset: 'openrouter' }) {
  const lab = { kind: 'openai-compatible' as const, baseUrl: `${server.url}/v1`, ...extra };
  const router = createRouter({ providers: { lab }, models: { retries: 0 } });
  const messages: ChatMessage[] = [user('weather?')];
  const step = async (modelId: string): Promise<void> => {
    const reply = await router.stream(`lab/${modelId}`, createRequest([...messages]), new RecordingSink(), { signal });
    messages.push({ role: 'assistant', text: reply.text, calls: reply.calls }, ...reply.calls.map(({ id }) => result(id, 'sunny')));
  };
  return { router, step };
}

test('details go back with their calls, joined, under the ids that the calls have now', async () => {
  await using server = await ScriptedServer.start(answer, answer, ok);
  const { router, step } = open(server);
  for (let i = 0; i < 3; i++) await step(gemini);
  await router.close();
  const ids = bodies(server)[2]?.messages.flatMap((one) => one.tool_calls?.map(({ id }) => id) ?? []);
  expect(ids).toEqual(['tool_0_get_weather', 'tool_0_get_weather_2']);
  const text = { type: 'reasoning.text', text: 'I look.', format: 'google-gemini-v1', index: 0 };
  const encrypted = { type: 'reasoning.encrypted', data: 'sig', format: 'google-gemini-v1', index: 1 };
  expect(details(server, 2)).toMatchObject([text, { ...encrypted, id: ids?.[0] }, text, { ...encrypted, id: ids?.[1] }]);
  expect(bodies(server).map((body) => vendorRefusal('openrouter', { ...body }))).toEqual([null, null, null]);
});

test('another model gets none of it, and Gemini a placeholder for what is lost', async () => {
  await using server = await ScriptedServer.start(answer, ok, ok);
  const { router, step } = open(server);
  await step('anthropic/claude-sonnet-5-5');
  await step('openai/gpt-5.6');
  expect(details(server, 1)).toEqual([]);
  await step(gemini);
  await router.close();
  expect(details(server, 2)).toMatchObject([
    { type: 'reasoning.encrypted', data: 'skip_thought_signature_validator', id: 'tool_0_get_weather' },
  ]);
  expect(vendorRefusal('openrouter', { ...bodies(server)[2] })).toBeNull();
});

test('a server without a known name tells that OpenRouter is behind it', async () => {
  const no = vendorRefusal('openrouter', { model: gemini, messages: [{ role: 'user', content: 'x' }, { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'get_weather', arguments: '{}' } }] }, { role: 'tool', tool_call_id: 'c', content: 'x' }] }); // prettier-ignore
  await using server = await ScriptedServer.start(answer, { status: 400, chunks: [JSON.stringify(no?.body)] }, ok);
  const { router, step } = open(server, {});
  await step('our-model');
  await step('our-model');
  await router.close();
  expect(details(server, 1)).toEqual([]);
  expect(details(server, 2)).toMatchObject([{ text: 'I look.' }, { data: 'sig' }]);
});

test('details beyond the size of an answer are dropped, and reading them takes linear time', () => {
  const reader = new OpenAiReader({ provider: 'lab', sink: new RecordingSink(), mapError: () => new AppError('model_bad_reply', 'No.') });
  const piece = { type: 'reasoning.text', text: 'x'.repeat(1000), index: 0 };
  const startMs = performance.now();
  for (let i = 0; i < answerBytesMax / 1000; i++) reader.event(JSON.stringify({ choices: [{ delta: { reasoning_details: [piece] } }] }));
  expect(performance.now() - startMs).toBeLessThan(5_000);
  expect(reader.reasoningDetails([], (id) => id)).toEqual([]);
});
