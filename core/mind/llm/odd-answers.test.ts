// Complete answers in an unexpected form: compressed, left open at their end, or redirected.

import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import {
  createRequest,
  createRouter,
  failureOf,
  readFixture,
  RecordingSink,
  user,
} from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { ScriptedServer, type Script } from '../../../tests/rigs/core/mind/llm/scripted-server.ts';

const text = readFixture('openai-text.txt');

async function asked(script: Script, models: object = {}) {
  await using server = await ScriptedServer.start(script);
  const router = createRouter({ providers: { lab: { kind: 'openai-compatible', baseUrl: `${server.url}/v1` } }, models });
  const sink = new RecordingSink();
  const answer = router.stream('lab/m', createRequest([user('hi')]), sink, { signal: new AbortController().signal });
  const outcome = await answer.catch((cause: unknown) => failureOf(Promise.reject(cause as Error)));
  await router.close();
  return { outcome, sink, seen: server.seen };
}

const halves = (bytes: Buffer): Buffer[] => [bytes.subarray(0, 40), bytes.subarray(40)];

test.each([
  ['gzip', gzipSync(text)],
  ['x-gzip', gzipSync(text)],
  ['br', brotliCompressSync(text)],
  ['deflate', deflateSync(text)],
  ['gzip', Buffer.from(text)],
])('an answer compressed with %s is unpacked, although it was not requested', async (encoding, bytes) => {
  const { outcome, sink, seen } = await asked({ headers: { 'content-encoding': encoding }, chunks: halves(bytes) });
  expect(outcome).toMatchObject({ text: 'Grüße aus 東京 🚀!', usageReported: true });
  expect(sink.texts.join('')).toBe('Grüße aus 東京 🚀!');
  expect(seen[0]?.headers['accept-encoding']).toBe('identity');
});

test('a truncated or invalid compressed answer is a cut-off', async () => {
  const models = { retries: 0 };
  const packed = gzipSync(text);
  for (const [encoding, bytes] of [
    ['gzip', packed.subarray(0, packed.length - 30)],
    ['gzip', Buffer.concat([packed.subarray(0, 20), Buffer.alloc(200, 7)])],
    ['br', Buffer.from(text)],
  ] as const) {
    const { outcome } = await asked({ headers: { 'content-encoding': encoding }, chunks: halves(bytes) }, models);
    expect(outcome).toMatchObject({ code: 'model_cut_off', message: 'lab broke off in the middle of its answer.' });
  }
});

test('a compressed error is read as well', async () => {
  const chunks = [gzipSync('{"error":{"message":"no such thing","code":"model_not_found"}}')];
  const { outcome } = await asked({ status: 404, headers: { 'content-encoding': 'gzip' }, chunks });
  expect(outcome).toMatchObject({ code: 'model_unknown', message: expect.stringContaining('no such thing') as string });
});

test('an answer is accepted if its stream stays open after the end, even with pings', async () => {
  const said = '{"choices":[{"index":0,"delta":{"content":"all of it"},"finish_reason":"stop"}]}';
  const timeouts = { idleMs: 300 };
  for (const script of [
    { chunks: [`data: ${said}\n\n`], after: 'hang' },
    { chunks: [`data: ${said}\n\n`, ...Array.from({ length: 40 }, () => ': ping\n\n')], pauseMs: 50, after: 'hang' },
  ] satisfies Script[]) {
    const { outcome, seen } = await asked(script, { retries: 2, timeouts });
    expect(outcome).toMatchObject({ text: 'all of it', finishReason: 'stop', usageReported: false });
    expect(seen).toHaveLength(1);
  }
});

test('a redirect is not followed, and the error names its address', async () => {
  const { outcome, seen } = await asked({ status: 302, headers: { location: 'https://login.example.com/' } });
  expect(outcome).toMatchObject({
    code: 'model_rejected',
    message: 'lab sends to another address, https://login.example.com/; that is not followed.',
    hint: expect.stringContaining('baseUrl') as string,
  });
  expect(seen).toHaveLength(1);
});
