// Cortensor as a verifier, with a strict fake of its router: every version, every verdict, the votes of nodes, and payment.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { providerSchema } from '../../contracts/config.ts';
import { CortensorRouter } from '../../mind/llm/llm.ts';
import { Cortensor, type CortensorKnobs } from '../../../tests/doubles/cortensor.ts';
import { verifyByCortensor } from './by-cortensor.ts';
import { createVerifier, about, settingsOf, verdictOf } from '../../../tests/rigs/core/features/verify/verify-bench.ts';

let double: Cortensor;
beforeEach(async () => {
  double = await Cortensor.start();
});
afterEach(() => double.close());

function askBy(api: 'v1' | 'v2' | 'v3' | 'factcheck', more: { key?: string; replicas?: 1 | 3 | 5; timeoutMs?: number } = {}) {
  const config = providerSchema.parse({ kind: 'cortensor', baseUrl: double.baseUrl, apiKey: 'env:COR_KEY', sessionId: 1 });
  if (config.kind !== 'cortensor') throw new Error('not a router');
  const secrets = { resolve: () => Promise.resolve(more.key ?? 'default-dev-token') };
  const router = new CortensorRouter('cor', config, { secrets, clock: systemClock });
  const { replicas = 3, timeoutMs = 5_000 } = more;
  return verifyByCortensor(router, settingsOf({ by: 'cortensor:cor', api, replicas, timeoutMs }));
}

const outcomes = { VALID: 'pass', INVALID: 'deny', RETRY: 'deny', NEEDS_SPEC: 'ask' } as const;

test.each((['v1', 'v2', 'v3'] as const).flatMap((api) => Object.entries(outcomes).map(([verdict, outcome]) => [api, verdict, outcome])))(
  'validate %s answers %s',
  async (api, verdict, outcome) => {
    double.knobs = { verdict };
    expect(await verdictOf(askBy(api as 'v1'))).toEqual([verdict, outcome]);
    expect(double.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([`POST /api/${api}/validate`]);
  },
);

test.each([
  ['TRUE', ['VALID', 'pass']],
  ['refuted', ['INVALID', 'deny']],
  ['unverifiable', ['NEEDS_SPEC', 'ask']],
  ['banana', ['UNAVAILABLE', 'deny']],
])('a fact check that says %s', async (verdict, expected) => {
  double.knobs = { verdict };
  expect(await verdictOf(askBy('factcheck'))).toEqual(expected);
  expect(double.seen[0]?.body).toMatchObject({ mode: 'standard', redundancy: 3, session_id: 1 });
});

test.each([
  [['VALID', 'VALID', 'INVALID'], 'VALID', ['VALID', 'pass']],
  [['VALID', 'INVALID', 'INVALID'], 'VALID', ['NEEDS_SPEC', 'ask']],
  [['VALID'], 'VALID', ['NEEDS_SPEC', 'ask']],
  [['INVALID', 'VALID', 'VALID'], 'INVALID', ['INVALID', 'deny']],
])('of nodes that vote %j, %s', async (votes, verdict, expected) => {
  double.knobs = { verdict, votes };
  expect(await verdictOf(askBy('v3'))).toEqual(expected);
});

test.each<[string, CortensorKnobs, { key?: string; timeoutMs?: number }]>([
  ['a wrong key', {}, { key: 'wrong' }],
  ['an error as text', { error: { error: 'no miners' } }, {}],
  ['an error as an object', { error: { error: { code: 'RATE_LIMITED', message: 'slow down' } }, status: 429 }, {}],
  ['an error as a message', { error: { message: 'boom' }, status: 500 }, {}],
  ['a failed envelope', { error: { status: 'failed', data: null, error: { code: 'X', message: 'no' } } }, {}],
  ['a session it does not have', { sessions: [7] }, {}],
  ['a payment it wants', { payment: 'proof' }, {}],
  ['no task to wait for', { pending: 1, hidesTask: true }, {}],
  ['silence', { delayMs: 400 }, { timeoutMs: 150 }],
])('%s is not a verdict, and is not retried', async (_what, knobs, more) => {
  double.knobs = knobs;
  expect(await verdictOf(askBy('v2', more))).toEqual(['UNAVAILABLE', 'deny']);
  expect(double.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
  expect(double.seen.every(({ payment }) => payment === undefined)).toBe(true);
});

test('a pending verdict is polled for and paid once', async () => {
  double.knobs = { pending: 2, verdict: 'INVALID' };
  expect(await verdictOf(askBy('v2'))).toEqual(['INVALID', 'deny']);
  expect(double.seen.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
  expect(double.paid).toBe(1);
});

test('a 402 status is explained in the reason', async () => {
  double.knobs = { payment: 'proof' };
  const { reason } = await createVerifier(askBy('v2')).verify(about, new AbortController().signal);
  expect(reason).toContain('25000 of COR on arbitrum to 0xabc');
});
