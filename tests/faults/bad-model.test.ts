// Model servers that fail in every way: each case asserts the code, that the message names the cause, that there is a hint if something can
// be done, and that afterwards the log verifies and the session continues.

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Answer, WireFormat } from '../doubles/scripted-model.ts';
import { BadInputRig, expectClear, sessionId, type Expected } from './bad-input-rig.ts';

let rig: BadInputRig;

beforeEach(async () => {
  rig = await BadInputRig.start();
});

afterEach(async () => {
  await rig.dispose();
});

interface ModelCase {
  readonly name: string;
  readonly format?: WireFormat;
  readonly answers: readonly Answer[];
  /** Undefined if the failure is handled and the turn succeeds. */
  readonly expected?: Expected;
  readonly requests: number;
  readonly limits?: { readonly firstTokenMs?: number; readonly idleMs?: number };
}

const words = { text: 'some words for pieces', pieceChars: 5 };
const modelCases: ModelCase[] = [
  {
    name: 'a stream with a broken line',
    answers: [{ ...words, trouble: { kind: 'malformed', afterFrames: 2 } }],
    expected: { code: 'model_bad_reply', says: /lab/, hint: false },
    requests: 1,
  },
  {
    name: 'a stream cut off',
    answers: [{ ...words, trouble: { kind: 'cut', afterFrames: 3 } }],
    expected: { code: 'model_cut_off', says: /lab/, hint: false },
    requests: 2,
  },
  {
    name: 'a stream that ends without an end',
    format: 'anthropic',
    answers: [{ ...words, trouble: { kind: 'close', afterFrames: 4 } }],
    expected: { code: 'model_cut_off', says: /lab/, hint: false },
    requests: 2,
  },
  {
    name: 'an error in the middle',
    format: 'anthropic',
    answers: [{ ...words, trouble: { kind: 'error', afterFrames: 4 } }],
    expected: { code: 'model_unavailable', says: /lab cannot answer/ },
    requests: 1,
  },
  { name: '401', answers: [{ refuse: 'unauthorized' }], expected: { code: 'model_auth', says: /lab did not accept the key/ }, requests: 1 },
  {
    name: 'no credit',
    format: 'anthropic',
    answers: [{ refuse: 'quota' }],
    expected: { code: 'model_quota', says: /lab has no credit/ },
    requests: 1,
  },
  {
    name: 'an unknown model',
    answers: [{ refuse: 'unknown-model' }],
    expected: { code: 'model_unknown', says: /"scripted"/, hint: false },
    requests: 1,
  },
  { name: '429 and then an answer', answers: [{ refuse: 'rate-limited', retryAfterSeconds: 0.3 }, words], requests: 2 },
  {
    name: '429 for ever',
    answers: [{ refuse: 'rate-limited', retryAfterSeconds: 0.05 }],
    expected: { code: 'model_rate_limited', says: /lab asks to slow down/ },
    requests: 2,
  },
  { name: '500 and then an answer', answers: [{ refuse: 'server-error' }, words], requests: 2 },
  {
    name: '529 for ever',
    format: 'anthropic',
    answers: [{ refuse: 'overloaded' }],
    expected: { code: 'model_unavailable', says: /lab cannot answer/ },
    requests: 2,
  },
  { name: 'a conversation too long, then a smaller one fits', answers: [{ refuse: 'context-overflow' }, words], requests: 2 },
  {
    name: 'a conversation too long, however small',
    format: 'anthropic',
    answers: [{ refuse: 'context-overflow' }],
    expected: { code: 'model_context_overflow', says: /longer than lab\/scripted can read/ },
    requests: 2,
  },
  {
    name: 'no first word in time',
    limits: { firstTokenMs: 200 },
    answers: [{ silent: true }],
    expected: { code: 'model_timeout', says: /lab has not begun to answer.*200 ms/ },
    requests: 2,
  },
  {
    name: 'silence between words',
    limits: { idleMs: 300 },
    answers: [{ ...words, trouble: { kind: 'stall', afterFrames: 3 } }],
    expected: { code: 'model_timeout', says: /lab stopped in the middle/ },
    requests: 1,
  },
  { name: 'an empty reply', answers: [{ text: '' }], requests: 1 },
];

test.each(modelCases)('model: $name', async ({ format, answers, expected, requests, limits }) => {
  const config = rig.settings(format);
  const timeouts = { ...config.models.timeouts, ...limits };
  const claw = await rig.home.open({ config: { ...config, models: { ...config.models, timeouts } } });
  const last = answers.length - 1;
  rig.model.script(answers.map((answer, index) => ({ answer, ...(index === last ? {} : { times: 1 }) })));
  const startedMs = performance.now();
  const result = await claw.ask('hello', { sessionId });
  const tookMs = performance.now() - startedMs;
  if (expected === undefined) expect([result.status, result.error, result.text !== '']).toEqual(['done', undefined, true]);
  else {
    expect(result.status).toBe('failed');
    expectClear(result.error, expected);
    // The hint states the next step and does not repeat the message.
    expect(result.error?.hint ?? '').not.toMatch(/no credit/);
  }
  expect([rig.model.requests.length, rig.model.violations]).toEqual([requests, []]);
  const [first] = answers;
  if (first !== undefined && 'retryAfterSeconds' in first) expect(tookMs).toBeGreaterThanOrEqual((first.retryAfterSeconds ?? 0) * 1_000);
  await rig.expectWhole(claw);
  expect((await rig.home.close(claw)).different).toEqual([]);
});

test('model: no server listens', async () => {
  const claw = await rig.home.open({
    config: { ...rig.settings(), providers: { lab: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' } } },
  });
  const result = await claw.ask('hello', { sessionId });
  expectClear(result.error, { code: 'model_unavailable', says: /lab.*127\.0\.0\.1:9|127\.0\.0\.1:9/ });
  expect((await claw.op('audit.verify', {})).ok).toBe(true);
});

test('model: a budget of zero', async () => {
  const claw = await rig.home.open({ config: { ...rig.settings(), budget: { perTurnUsd: 0 } } });
  const result = await claw.ask('hello', { sessionId });
  expectClear(result.error, { code: 'over_budget', says: /budget of this turn is used up/ });
  expect([result.status, rig.model.requests.length]).toEqual(['over_budget', 0]);
});
