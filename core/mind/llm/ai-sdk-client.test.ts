import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ProviderConfig } from '../../contracts/config.ts';
import { AiSdkReader } from './ai-sdk-reader.ts';
import {
  assistant,
  createRequest,
  createRouter,
  failureOf,
  note,
  readFixture,
  RecordingSink,
  result,
  user,
} from './fixtures/conversation.ts';
import { ScriptedServer } from './fixtures/scripted-server.ts';

const never = new AbortController().signal;
const usage = (input: number | undefined, output: number | undefined, cacheRead?: number) => ({
  inputTokens: { total: input, noCache: undefined, cacheRead, cacheWrite: undefined },
  outputTokens: { total: output, text: undefined, reasoning: undefined },
});
const finish = (unified: 'stop' | 'other' | 'error' | 'tool-calls', raw?: string): LanguageModelV4StreamPart => ({
  type: 'finish',
  finishReason: { unified, raw },
  usage: usage(10, 5, 4),
});

function read(parts: readonly LanguageModelV4StreamPart[], sink = new RecordingSink()) {
  const reader = new AiSdkReader('lab', sink);
  for (const part of parts) reader.part(part);
  return reader.finish();
}

test('takes parts in any order the packages send them', () => {
  const sink = new RecordingSink();
  const unknown = { type: 'never-heard-of', x: 1 } as unknown as LanguageModelV4StreamPart;
  const parts: LanguageModelV4StreamPart[] = [
    { type: 'stream-start', warnings: [] },
    unknown,
    { type: 'text-delta', id: 't', delta: 'before its start' },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: '' },
    { type: 'text-end', id: 't' },
    { type: 'text-delta', id: 't', delta: ' and after its end' },
    { type: 'reasoning-delta', id: 'r', delta: 'hm' },
    { type: 'tool-call', toolCallId: 'a', toolName: 'calc', input: '{"x":1}' },
    { type: 'tool-input-start', id: 'b', toolName: 'calc' },
    { type: 'tool-input-delta', id: 'b', delta: '{"x"' },
    { type: 'tool-input-delta', id: 'b', delta: ':2}' },
    { type: 'tool-call', toolCallId: 'b', toolName: 'calc', input: '{"x":2}' },
    { type: 'tool-input-start', id: 'c', toolName: 'calc' },
    { type: 'tool-input-delta', id: 'c', delta: '{"x":3}' },
    { type: 'tool-input-end', id: 'c' },
    { type: 'tool-call', toolCallId: '', toolName: 'calc', input: { x: 4 } as unknown as string },
    finish('stop', 'stop'),
  ];
  expect(read(parts, sink)).toEqual({
    text: 'before its start and after its end',
    reasoning: 'hm',
    calls: [
      { id: 'a', tool: 'calc', args: '{"x":1}' },
      { id: 'b', tool: 'calc', args: '{"x":2}' },
      { id: 'c', tool: 'calc', args: '{"x":3}' },
      { id: '', tool: 'calc', args: '{"x":4}' },
    ],
    usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4 },
    finishReason: 'tool_calls',
  });
  expect(sink.texts).toEqual(['before its start', ' and after its end']);
});

test.each([
  ['no finish', []],
  ['an error finish', [finish('error')]],
  [
    'a finish that knows nothing',
    [{ type: 'finish', finishReason: { unified: 'other', raw: undefined }, usage: usage(undefined, undefined) }],
  ],
] as const)('%s is a cut-off', (_what, parts) => {
  expect(() => read(parts as readonly LanguageModelV4StreamPart[])).toThrow(expect.objectContaining({ code: 'model_cut_off' }));
});

const line = (value: object): string => JSON.stringify({ model: 'm', created_at: '2026-11-22T02:44:43.408Z', ...value }) + '\n';
const said = (content: string): string => line({ message: { role: 'assistant', content }, done: false });
const done = line({ message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', prompt_eval_count: 30, eval_count: 6 });
const ollamaAt = (url: string, retries = 0) =>
  createRouter({ providers: { box: { kind: 'ollama', baseUrl: url, contextTokens: 16_384 } }, models: { retries } });

test('Ollama gets the window, results by name and the answer limit; its call without an id gets one', async () => {
  const call = line({
    message: {
      role: 'assistant',
      content: '',
      thinking: 'hm',
      tool_calls: [{ function: { name: 'get_weather', arguments: { city: 'Rom' } } }],
    },
    done: false,
  });
  await using server = await ScriptedServer.start({
    chunks: [said('Ja'), call, done],
    headers: { 'content-type': 'application/x-ndjson' },
  });
  const router = ollamaAt(server.url);
  const request = createRequest([user('hi'), assistant('', 'c1'), result('c1', '21'), note('go on')], { maxOutputTokens: 77 });
  const reply = await router.stream('box/qwen3:8b', request, new RecordingSink(), { signal: never });
  await router.close();
  expect(reply).toMatchObject({
    text: 'Ja',
    reasoning: 'hm',
    calls: [{ tool: 'get_weather', args: '{"city":"Rom"}' }],
    usage: { inputTokens: 30, outputTokens: 6, cachedInputTokens: 0 },
    usageReported: true,
    finishReason: 'tool_calls',
  });
  expect(reply.calls[0]?.id).not.toBe('');
  expect(server.seen[0]?.path).toBe('/api/chat');
  const body = JSON.parse(server.seen[0]?.body ?? '{}') as { messages: { role: string }[] };
  expect(body).toMatchObject({ model: 'qwen3:8b', options: { num_ctx: 16_384, num_predict: 77 } });
  expect(body.messages.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'tool', 'user']);
});

test.each([
  ['an error line', { chunks: [said('So'), line({ error: 'model runner has unexpectedly stopped' })] }, 'model_unavailable'],
  ['a missing end', { chunks: [said('So')] }, 'model_cut_off'],
  ['a lost connection', { chunks: [said('So')], after: 'drop' }, 'model_cut_off'],
  ['nonsense', { chunks: [said('So'), '{"nope\n'] }, 'model_bad_reply'],
  ['an unknown model', { status: 404, chunks: ['{"error":"model \'m\' not found"}'] }, 'model_unknown'],
] as const)('Ollama, %s', async (_what, script, code) => {
  await using server = await ScriptedServer.start({ headers: { 'content-type': 'application/x-ndjson' }, ...script });
  const router = ollamaAt(server.url);
  const error = await failureOf(router.stream('box/m', createRequest([user('hi')]), new RecordingSink(), { signal: never }));
  await router.close();
  expect(error.code).toBe(code);
});

test('Ollama that is not running', async () => {
  const server = await ScriptedServer.start();
  await server.close();
  const error = await failureOf(ollamaAt(server.url).stream('box/m', createRequest([user('hi')]), new RecordingSink(), { signal: never }));
  expect(error).toMatchObject({ code: 'model_unavailable', message: `Nothing answers at ${server.url} (box).` });
});

const kinds: readonly (readonly [ProviderConfig['kind'], string])[] = [
  ['openai', 'openai'],
  ['openai-compatible', 'openai'],
  ['anthropic', 'anthropic'],
];
test.each(kinds)('%s through its package: usage, an error in the middle, a cut-off, silence, abort', async (kind, fixture) => {
  await using server = await ScriptedServer.start(
    { chunks: [readFixture(`${fixture}-text.txt`)] },
    { chunks: [readFixture(`${fixture}-error-midstream.txt`)] },
    { chunks: [readFixture(`${fixture}-cut-off.txt`)] },
    { chunks: [readFixture(`${fixture}-cut-off.txt`).split('\n\n').slice(0, -1).join('\n\n') + '\n\n'], after: 'hang' },
  );
  const lab = { kind, apiKey: 'env:KEY', baseUrl: `${server.url}/v1`, via: 'ai-sdk' } as ProviderConfig;
  const router = createRouter({ providers: { lab }, models: { retries: 0, timeouts: { idleMs: 60 } } });
  const ask = () => router.stream('lab/some-model', createRequest([user('hi')]), new RecordingSink(), { signal: never });
  const reply = await ask();
  expect(reply.text).toContain('aus 東京');
  expect(reply.usageReported).toBe(true);
  expect(reply.usage.cachedInputTokens).toBeGreaterThan(0);
  const codes = [(await failureOf(ask())).code, (await failureOf(ask())).code, (await failureOf(ask())).code];
  await router.close();
  expect(codes[0]).toBe('model_unavailable');
  expect(['model_cut_off', 'model_bad_reply']).toContain(codes[1]);
  expect(codes[2]).toBe('model_timeout');
});

test('no provider package and no HTTP client is imported before it is used', () => {
  const heavy = /^import (?!type\b)[^;]*from '(undici|@ai-sdk\/[^']+|ollama-ai-provider-v2)'/m;
  const sources = readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  expect(sources.length).toBeGreaterThan(20);
  expect(sources.filter((name) => heavy.test(readFileSync(new URL(name, import.meta.url), 'utf8')))).toEqual([]);
  expect(heavy.exec("import { Pool } from 'undici'")).not.toBeNull();
});
