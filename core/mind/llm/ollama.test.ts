import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ChatMessage } from '../../contracts/llm.ts';
import {
  assistant,
  createRequest,
  createRouter,
  failureOf,
  note,
  RecordingSink,
  result,
  user,
} from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { ScriptedServer } from '../../../tests/rigs/core/mind/llm/scripted-server.ts';

const never = new AbortController().signal;
const ndjson = { 'content-type': 'application/x-ndjson' };
const line = (value: object): string => JSON.stringify({ model: 'm', created_at: '2026-11-22T02:44:43.408Z', ...value }) + '\n';
const said = (content: string): string => line({ message: { role: 'assistant', content }, done: false });
const done = line({ message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', prompt_eval_count: 30, eval_count: 6 });
const ollamaAt = (url: string, extra: object = {}) =>
  createRouter({ providers: { box: { kind: 'ollama', baseUrl: url, contextTokens: 16_384, ...extra } }, models: { retries: 0 } });
const bodyOf = (server: ScriptedServer, index: number) => JSON.parse(server.seen[index]?.body ?? '{}') as { messages: ChatMessage[] };

test('a request has the window, objects as arguments, named results and the limit', async () => {
  const call = line({
    message: {
      role: 'assistant',
      content: '',
      thinking: 'hm',
      tool_calls: [{ function: { name: 'get_weather', arguments: { city: 'Rom' } } }],
    },
    done: false,
  });
  await using server = await ScriptedServer.start(
    { chunks: [said('Ja'), call, done], headers: ndjson },
    { chunks: [said('21'), done], headers: ndjson },
  );
  const router = ollamaAt(server.url);
  const messages = [user('hi'), assistant('', 'c1'), result('c1', '21'), note('go on')];
  const request = createRequest(messages, { maxOutputTokens: 77 });
  const reply = await router.stream('box/qwen3:8b', request, new RecordingSink(), { signal: never });
  expect(reply).toMatchObject({
    text: 'Ja',
    reasoning: 'hm',
    calls: [{ id: 'made_1', tool: 'get_weather', args: '{"city":"Rom"}' }],
    usage: { inputTokens: 30, outputTokens: 6, cachedInputTokens: 0 },
    usageReported: true,
    finishReason: 'tool_calls',
  });
  messages.push({ role: 'assistant', text: reply.text, calls: reply.calls }, result('made_1', 'sunny'));
  await router.stream('box/qwen3:8b', createRequest(messages), new RecordingSink(), { signal: never });
  await router.close();
  expect(server.seen[0]?.path).toBe('/api/chat');
  const body = bodyOf(server, 0);
  expect(body).toMatchObject({ model: 'qwen3:8b', stream: true, truncate: false, options: { num_ctx: 16_384, num_predict: 77 } });
  expect(Object.keys(body)).not.toContain('tool_choice');
  expect(body.messages).toMatchObject([
    { role: 'system' },
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: '', tool_calls: [{ function: { name: 'get_weather', arguments: { city: 'c1' } } }] },
    { role: 'tool', tool_name: 'get_weather', content: '21' },
    { role: 'user' },
  ]);
  // The reasoning before a call is sent back with it.
  expect(bodyOf(server, 1).messages[5]).toMatchObject({ role: 'assistant', thinking: 'hm', content: 'Ja' });
});

test('images are sent as bare base64, and only to models that see', async () => {
  await using server = await ScriptedServer.start(
    { chunks: [said('a cat'), done], headers: ndjson },
    { chunks: [said('no'), done], headers: ndjson },
  );
  const image = { name: 'cat.png', mediaType: 'image/png', base64: 'aGk=' };
  const request = createRequest([{ role: 'user', text: 'look', images: [image] }]);
  for (const extra of [{ images: true }, {}]) {
    const router = ollamaAt(`${server.url}/api/`, extra);
    await router.stream('box/m', request, new RecordingSink(), { signal: never });
    await router.close();
  }
  expect(server.seen[0]?.path).toBe('/api/chat');
  expect(bodyOf(server, 0).messages[1]).toEqual({ role: 'user', content: 'look', images: ['aGk='] });
  expect(JSON.stringify(bodyOf(server, 1))).toContain('You cannot see images');
});

test.each([
  ['an error line', { chunks: [said('So'), line({ error: 'model runner has unexpectedly stopped' })] }, 'model_unavailable'],
  ['a missing end', { chunks: [said('So')] }, 'model_cut_off'],
  ['half a line', { chunks: [said('So'), '{"model":"m","mess'] }, 'model_cut_off'],
  ['a lost connection', { chunks: [said('So')], after: 'drop' }, 'model_cut_off'],
  ['nonsense', { chunks: [said('So'), '{"nope\n'] }, 'model_bad_reply'],
  ['a page', { chunks: ['<html><body>502</body></html>\n'] }, 'model_bad_reply'],
  ['nothing', { chunks: [] }, 'model_cut_off'],
  ['an unknown model', { status: 404, chunks: ['{"error":"model \'m\' not found"}'] }, 'model_unknown'],
  ['too long', { status: 400, chunks: ['{"error":"the input length exceeds the context length"}'] }, 'model_context_overflow'],
  ['busy', { status: 503, chunks: ['{"error":"server busy, please try again.  maximum pending requests exceeded"}'] }, 'model_unavailable'],
] as const)('%s', async (_what, script, code) => {
  await using server = await ScriptedServer.start({ headers: ndjson, ...script });
  const router = ollamaAt(server.url);
  const error = await failureOf(router.stream('box/m', createRequest([user('hi')]), new RecordingSink(), { signal: never }));
  await router.close();
  expect(error.code).toBe(code);
});

test('reads an answer in one document, its length reason, and pieces split anywhere', async () => {
  const whole = line({ message: { role: 'assistant', content: 'Grüße 🚀' }, done: true, done_reason: 'length' });
  const bytes = Buffer.from(said('Grüße ') + said('🚀') + done);
  const pieces = Array.from({ length: bytes.length }, (_, at) => bytes.subarray(at, at + 1));
  await using server = await ScriptedServer.start({ chunks: [whole.trimEnd()] }, { chunks: pieces });
  const router = ollamaAt(server.url);
  const ask = () => router.stream('box/m', createRequest([user('hi')]), new RecordingSink(), { signal: never });
  expect(await ask()).toMatchObject({ text: 'Grüße 🚀', finishReason: 'length', usageReported: false });
  expect(await ask()).toMatchObject({ text: 'Grüße 🚀', finishReason: 'stop', usageReported: true });
  await router.close();
});

test('a model that refuses tools is asked again without them, and stays that way', async () => {
  const refusal = { status: 400, chunks: ['{"error":"registry.ollama.ai/library/gemma:2b does not support tools"}'] };
  await using server = await ScriptedServer.start(refusal, { chunks: [said('hi'), done] }, { chunks: [said('hi'), done] });
  const router = ollamaAt(server.url);
  const ask = () => router.stream('box/gemma:2b', createRequest([user('hi')]), new RecordingSink(), { signal: never });
  expect((await ask()).text).toBe('hi');
  await ask();
  await router.close();
  expect(server.seen.map(({ body }) => body.includes('"tools"'))).toEqual([true, false, false]);
});

test('reports a server that is not running', async () => {
  const server = await ScriptedServer.start();
  await server.close();
  const error = await failureOf(ollamaAt(server.url).stream('box/m', createRequest([user('hi')]), new RecordingSink(), { signal: never }));
  expect(error).toMatchObject({ code: 'model_unavailable', message: `Nothing answers at ${server.url} (box).` });
});

test('no HTTP client is imported before it is used', () => {
  const heavy = /^import (?!type\b)[^;]*from 'undici'/m;
  const sources = readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  expect(sources.length).toBeGreaterThan(20);
  expect(sources.filter((name) => heavy.test(readFileSync(new URL(name, import.meta.url), 'utf8')))).toEqual([]);
  expect(heavy.exec("import { Pool } from 'undici'")).not.toBeNull();
});
