// Tests a Cortensor router node as a model against a strict double: immediate answers, polled answers, streams of two miners, and refusals.
// Each request is paid for at most once.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { configSchema, type ConfigInput } from '../../contracts/config.ts';
import { silentLogger } from '../../base/logger.ts';
import { Cortensor, type CortensorKnobs } from '../../../tests/doubles/cortensor.ts';
import { portalConfig } from './cortensor-client.ts';
import { ModelRouter } from './llm.ts';

let double: Cortensor;
beforeEach(async () => {
  double = await Cortensor.start();
});
afterEach(() => double.close());

type Provider = NonNullable<ConfigInput['providers']>[string];

async function ask(
  more: Partial<Extract<Provider, { kind: 'cortensor' }>> = {},
): Promise<{ text: string; said: string; code: string; hint: string; usage: number }> {
  const cor: Provider = { kind: 'cortensor', baseUrl: double.baseUrl, apiKey: 'env:COR_KEY', sessionId: 1, timeoutMs: 90_000, ...more };
  const config = configSchema.parse({ providers: { cor }, models: { default: 'cor/gpt-oss-20b', retries: 3 } });
  const router = new ModelRouter({
    config,
    secrets: { resolve: () => Promise.resolve('default-dev-token') },
    clock: systemClock,
    logger: silentLogger,
    environment: {},
    formerModel: () => null,
  });
  let said = '';
  try {
    const messages = [{ role: 'user' as const, text: 'Hello?' }];
    const sink = { text: (piece: string) => void (said += piece) };
    const reply = await router.stream('cor/gpt-oss-20b', { system: 'Be brief.', tools: [], messages }, sink, {
      signal: new AbortController().signal,
    });
    return { text: reply.text, said, code: '', hint: '', usage: reply.usage.outputTokens };
  } catch (cause) {
    const { code, hint } = cause as { code: string; hint?: string };
    return { text: '', said, code, hint: hint ?? '', usage: 0 };
  } finally {
    await router.close();
  }
}

const posts = (): number => double.seen.filter(({ method }) => method === 'POST').length;

test('an immediate answer, with every key that the documents name', async () => {
  expect(await ask()).toMatchObject({ text: 'Hello from a miner.', said: 'Hello from a miner.', usage: 20 });
  expect(double.seen.map(({ path }) => path)).toEqual(['/api/v2/completions']);
  expect(double.seen[0]?.body).toMatchObject({ session_id: 1, prompt_type: 1, stream: false, timeout: 90, precommit_timeout: 30 });
  expect(double.seen[0]?.body['prompt']).toMatch(/^System instruction:\nBe brief\.\n\nConversation history:\nuser: Hello\?\n\nassistant:$/);
});

test('a session in the path is tried, and the refused form was not paid for', async () => {
  double.knobs = { sessionIn: 'path' };
  expect((await ask()).text).toBe('Hello from a miner.');
  expect([double.seen.map(({ path }) => path), double.paid]).toEqual([['/api/v2/completions', '/api/v2/completions/1'], 1]);
});

test.each<[string, CortensorKnobs, boolean]>([
  ['pending', { pending: 2 }, false],
  ['off-chain', { urn: 2 }, false],
  ['pending in place of a stream', { pending: 2 }, true],
])('an answer that is %s is polled for and paid for once', async (_what, knobs, stream) => {
  double.knobs = knobs;
  expect((await ask({ stream })).text).toBe('Hello from a miner.');
  expect([posts(), double.paid, double.seen.filter(({ method }) => method === 'GET').length]).toEqual([1, 1, 2]);
});

test('if two miners write into one stream, the first is the answer', async () => {
  double.knobs = { streams: true, text: 'One two three.' };
  expect(await ask({ stream: true, api: 'v1' })).toMatchObject({ text: 'One two three.', said: 'One two three.' });
});

test.each<[string, CortensorKnobs, string]>([
  ['a wrong key', { key: 'another' }, 'model_auth'],
  ['an error as text', { error: { error: 'no miners' } }, 'model_unavailable'],
  ['an error as an object', { error: { error: { code: 'INVALID_ARGUMENT', message: 'bad' } } }, 'model_rejected'],
  ['an error with a message', { error: { message: 'boom' }, status: 500 }, 'model_unavailable'],
  ['a payment demand', { payment: 'proof' }, 'model_quota'],
  ['no task to wait for', { pending: 1, hidesTask: true }, 'model_timeout'],
])('%s fails the call, which is sent once and never paid for automatically', async (_what, knobs, code) => {
  double.knobs = knobs;
  expect((await ask()).code).toBe(code);
  expect([posts(), double.seen.some(({ payment }) => payment !== undefined)]).toEqual([1, false]);
});

test('a broken stream is not requested again, and the hint explains why', async () => {
  double.knobs = { streams: true, breaksOff: true };
  const { code, hint } = await ask({ stream: true });
  expect([code, hint, posts()]).toEqual(['model_bad_reply', expect.stringContaining('may have been paid for'), 1]);
});

const portal = { sessionId: undefined };
const failed = {
  request_id: 'r',
  status: 'failed',
  model: 'oss-20b',
  router_pool: 'p',
  data: null,
  error: { code: 'X', message: 'no miner', details: {} },
};

test('the portal answers once, in pieces', async () => {
  expect(await ask(portal)).toMatchObject({ text: 'Hello from the portal.', said: 'Hello from the portal.', code: '' });
  expect([posts(), double.paid, double.seen[0]?.path]).toEqual([1, 1, '/v1/chat/completions']);
});

test.each<[string, CortensorKnobs, string, number]>([
  ['a wrong key', { key: 'another' }, 'model_auth', 0],
  ['a failed envelope with status 500', { error: failed, status: 500 }, 'model_unavailable', 0],
  ['a failed envelope with status 503', { error: failed, status: 503 }, 'model_unavailable', 0],
  ['a failed envelope with status 200', { error: failed }, 'model_', 0],
  ['a payment demand', { payment: 'proof' }, 'model_quota', 0],
  ['a stream that breaks off', { breaksOff: true }, 'model_bad_reply', 1],
])('the portal with %s fails the call, sent once and never paid automatically', async (_what, knobs, code, paid) => {
  double.knobs = knobs;
  expect((await ask(portal)).code).toMatch(new RegExp(`^${code}`));
  expect([posts(), double.paid, double.seen.some(({ payment }) => payment !== undefined)]).toEqual([1, paid, false]);
});

test('the portal is asked again after a rate limit, and paid for once', async () => {
  double.knobs = { limited: 2 };
  expect((await ask(portal)).text).toBe('Hello from the portal.');
  expect([posts(), double.paid]).toEqual([3, 1]);
});

test('without a session the provider is the portal, which uses the OpenAI format', () => {
  const hosted = configSchema.parse({ providers: { cor: { kind: 'cortensor', apiKey: 'env:K' } } }).providers['cor'];
  if (hosted?.kind !== 'cortensor') throw new Error('another kind');
  expect(portalConfig(hosted)).toEqual({ kind: 'openai-compatible', baseUrl: 'https://api.cortensor.app/v1', apiKey: 'env:K' });
  expect(portalConfig({ ...hosted, sessionId: 1 })).toBe(null);
});
