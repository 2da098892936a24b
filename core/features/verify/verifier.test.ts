// The outcome of each verdict, from each kind of source. A missing verdict never allows a call.

import { expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { stillRedacted } from '../../base/redacted.ts';
import { configSchema } from '../../contracts/config.ts';
import { AppError } from '../../contracts/errors.ts';
import type { VerifySubject } from '../../contracts/features/verify.ts';
import type { AskingDeps } from '../../mind/asking/asking.ts';
import { verifyByCommand } from './by-command.ts';
import { verifyByModel } from './by-model.ts';
import type { AskVerifier } from './verifier.ts';
import { about, createVerifier, request, settingsOf, verdictOf } from '../../../tests/rigs/core/features/verify/verify-bench.ts';

const says =
  (verdict: 'VALID' | 'INVALID' | 'RETRY' | 'NEEDS_SPEC'): AskVerifier =>
  () =>
    Promise.resolve({ verdict, reason: 'because' });
const none: AskVerifier = () => Promise.resolve({ refused: 'there is no answer' });
const breaks: AskVerifier = () => Promise.reject(new AppError('model_unavailable', 'Nothing answers.'));

test.each([
  ['VALID', 'deny', says('VALID'), 'pass'],
  ['VALID', 'ask', says('VALID'), 'pass'],
  ['INVALID', 'deny', says('INVALID'), 'deny'],
  ['INVALID', 'ask', says('INVALID'), 'deny'],
  ['RETRY', 'deny', says('RETRY'), 'deny'],
  ['RETRY', 'ask', says('RETRY'), 'deny'],
  ['NEEDS_SPEC', 'deny', says('NEEDS_SPEC'), 'ask'],
  ['NEEDS_SPEC', 'ask', says('NEEDS_SPEC'), 'ask'],
  ['UNAVAILABLE', 'deny', none, 'deny'],
  ['UNAVAILABLE', 'ask', none, 'ask'],
  ['UNAVAILABLE', 'deny', breaks, 'deny'],
  ['UNAVAILABLE', 'ask', breaks, 'ask'],
] as const)('%s with whenUnavailable %s leads to its outcome', async (verdict, whenUnavailable, ask, outcome) => {
  expect(await verdictOf(ask, settingsOf({ whenUnavailable }))).toEqual([verdict, outcome]);
});

test('the reason tells the model what to do, and names the verifier', async () => {
  const signal = new AbortController().signal;
  expect((await createVerifier(says('RETRY')).verify(about, signal)).reason).toBe(
    'lab/judge wants the call done differently: because Correct it and propose it again.',
  );
  expect((await createVerifier(none).verify(about, signal)).reason).toBe('It could not be verified by lab/judge: there is no answer.');
});

test('the subject contains the call as data, and no secrets', async () => {
  const seen: VerifySubject[] = [];
  const ask: AskVerifier = (subject) => {
    seen.push(subject);
    return Promise.resolve({ verdict: 'VALID', reason: 'the key sk-live-1 is fine' });
  };
  const secret = { ...about, request: { ...request, args: '{"key":"sk-live-1"}' } };
  const { reason } = await createVerifier(ask).verify(secret, new AbortController().signal);
  expect(seen).toEqual([
    {
      tool: 'pay',
      class: 'spend',
      args: '{"key":"[redacted:KEY]"}',
      summary: 'pay 20 US dollars',
      decision: 'ask',
      reason: 'It spends money.',
      request: 'Buy the blue lamp for 20 dollars.',
      untrusted: ['web: shop.example'],
    },
  ]);
  expect(reason).not.toContain('sk-live-1');
});

test('a turn that ends during verification is cancelled, not denied', async () => {
  const abort = new AbortController();
  const ask: AskVerifier = () => {
    abort.abort();
    return Promise.reject(new AppError('model_timeout', 'late'));
  };
  await expect(createVerifier(ask).verify(about, abort.signal)).rejects.toMatchObject({ code: 'cancelled' });
});

function askingWith(text: string, room = true): { deps: AskingDeps; asked: string[] } {
  const asked: string[] = [];
  const usage = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 0 };
  const breach = { scope: 'day' as const, unit: 'usd' as const, limit: 1, spent: 1, unknownCost: false };
  const deps: AskingDeps = {
    clock: systemClock,
    later: () => () => undefined,
    budget: {
      reserve: () =>
        room
          ? { ok: true, reservation: { settle: () => undefined }, unpriced: [], room: { usd: null, tokens: null } }
          : { ok: false, breach },
    },
    models: {
      cost: () => 0.01,
      stream: (ref, { messages }) => {
        asked.push(`${ref} ${messages.map((message) => message.text).join('')}`);
        return Promise.resolve({ text, reasoning: '', calls: [], usage, usageReported: true, finishReason: 'stop' });
      },
    },
    count: (said) => said.length,
    redact: stillRedacted,
  };
  return { deps, asked };
}

test.each([
  ['{"verdict":"INVALID","reason":"it deletes more than was asked"}', ['INVALID', 'deny']],
  ['Sure!\n```json\n{"verdict": "VALID", "reason": "as asked"}\n```', ['VALID', 'pass']],
  ['The call says {"verdict":"VALID"}, so: {"verdict":"INVALID"}', ['UNAVAILABLE', 'deny']],
  ['{"verdict":"valid"}', ['UNAVAILABLE', 'deny']],
  ['VALID', ['UNAVAILABLE', 'deny']],
  ['{"verdict":"APPROVED"}', ['UNAVAILABLE', 'deny']],
  ['', ['UNAVAILABLE', 'deny']],
])('model answer %j', async (text, expected) => {
  const { deps, asked } = askingWith(text);
  expect(await verdictOf(verifyByModel(deps, settingsOf()))).toEqual(expected);
  expect(asked).toHaveLength(expected[0] === 'UNAVAILABLE' ? 2 : 1);
  for (const question of asked) expect(question).toContain('lab/judge {"tool":"pay"');
});

test('a model that the budget does not allow is not called, and the call is denied', async () => {
  const { deps, asked } = askingWith('{"verdict":"VALID","reason":""}', false);
  expect(await verdictOf(verifyByModel(deps, settingsOf()))).toEqual(['UNAVAILABLE', 'deny']);
  expect(asked).toEqual([]);
});

const end = { ending: 'exited', exitCode: 0, output: '', remarks: [] } as unknown as Parameters<typeof verifyByCommand>[2] extends (
  ...args: never[]
) => Promise<infer E>
  ? E
  : never;

test.each([
  [{ output: '{"verdict":"VALID","reason":"fine"}' }, ['VALID', 'pass']],
  [{ output: '{"verdict":"INVALID"}' }, ['INVALID', 'deny']],
  [{ output: 'fine' }, ['UNAVAILABLE', 'deny']],
  [{ output: '{"verdict":"VALID"}', exitCode: 1 }, ['UNAVAILABLE', 'deny']],
  [{ output: '{"verdict":"VALID"}', ending: 'timeout' as const }, ['UNAVAILABLE', 'deny']],
  [{ output: '{"verdict":"VALID"}', remarks: ['it tried to reach the network'] }, ['UNAVAILABLE', 'deny']],
])('command result %j', async (made, expected) => {
  const given: string[] = [];
  const ask = verifyByCommand(['check'], 1_000, (command, input) => {
    given.push(`${command.join(' ')} ${input}`);
    return Promise.resolve({ ...end, ...made });
  });
  expect(await verdictOf(ask)).toEqual(expected);
  expect(given).toEqual([expect.stringMatching(/^check \{"tool":"pay".*\}\n$/)]);
});

test('settings that name an unknown command are refused with its key', () => {
  const verify = { classes: ['spend'], by: 'command:lint', commands: { other: ['true'] } };
  const read = configSchema.safeParse({ verify });
  expect(read.error?.issues.map(({ path, message }) => [path.join('.'), message])).toEqual([
    ['verify.by', 'names a command that is not in verify.commands'],
  ]);
  expect(configSchema.safeParse({ verify: { classes: ['spend'], by: 'nonsense' } }).success).toBe(false);
  expect(configSchema.parse({}).verify).toBe(undefined);
});
