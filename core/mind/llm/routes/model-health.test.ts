import { expect, test } from 'vitest';
import { AppError, type ErrorCode } from '../../../contracts/errors.ts';
import { classOf, failoverTable, type FailureClass } from './failover-table.ts';
import { ModelHealth, subjectsOf, type HealthRow } from './model-health.ts';

const subjects = subjectsOf('lab/a', 'env:KEY');
const failure = (code: ErrorCode, data: Record<string, string | number | boolean> = {}) => new AppError(code, 'It failed.', { data });

function healthAt(rows: readonly HealthRow[] = []) {
  const now = { ms: 1_000 };
  const saved: HealthRow[] = [];
  const health = new ModelHealth(() => now.ms, { load: () => rows, save: (given) => void saved.push(...given) });
  return { now, saved, health };
}

const classes: readonly (readonly [ErrorCode, Record<string, string | number | boolean>, FailureClass])[] = [
  ['model_auth', { status: 401 }, 'key'],
  ['secret_missing', {}, 'key'],
  ['model_quota', { status: 402 }, 'quota'],
  ['model_rate_limited', { status: 429 }, 'rate limit'],
  ['model_unavailable', { status: 503 }, 'server'],
  ['model_unavailable', { status: 529 }, 'server'],
  ['model_unavailable', { networkCode: 'ECONNREFUSED' }, 'connect'],
  ['model_timeout', { limitMs: 5 }, 'timeout'],
  ['model_cut_off', {}, 'broken'],
  ['model_bad_reply', {}, 'bad reply'],
  ['model_unknown', { status: 404 }, 'unknown model'],
  ['model_rejected', { status: 400 }, 'rejected'],
  ['model_rejected', { status: 400, refusal: true }, 'refusal'],
  ['model_context_overflow', { status: 400 }, 'too long'],
  ['cancelled', {}, 'stop'],
  ['over_budget', {}, 'stop'],
  ['internal', {}, 'stop'],
];

test.each(classes)('%s %o is in the class %s', (code, data, expected) => {
  expect(classOf(failure(code, data))).toBe(expected);
});

test('a stopped turn and a filtered answer never go to another model', () => {
  const still = Object.entries(failoverTable).filter(([, { advances }]) => !advances);
  expect(still.map(([name]) => name)).toEqual(['refusal', 'stop']);
});

test('a rate limit cools one model of one key, and no other', () => {
  const { health } = healthAt();
  health.failed(subjects, failure('model_rate_limited', { status: 429 }));
  const sister = subjectsOf('lab/b', 'env:KEY');
  expect(health.of(subjects.key, subjects.keyAndModel).state).toBe('cooling');
  expect(health.of(sister.model, sister.server, sister.key, sister.keyAndModel).state).toBe('ok');
});

test('the wait is the retry-after of the server, and a shorter one does not shorten it', () => {
  const { health, now } = healthAt();
  expect(health.failed(subjects, failure('model_rate_limited', { retryAfterMs: 7_000 }))?.untilMs).toBe(8_000);
  now.ms += 1_000;
  expect(health.failed(subjects, failure('model_rate_limited', { retryAfterMs: 10 }))?.untilMs).toBe(8_000);
});

test('a cool-down doubles with each failure up to its maximum, and an answer ends it', () => {
  const { health, now } = healthAt();
  const lasted: number[] = [];
  for (let round = 0; round < 8; round++) {
    const { untilMs = 0 } = health.failed(subjects, failure('model_unavailable', { status: 500 })) ?? {};
    lasted.push(untilMs - now.ms);
    now.ms = untilMs;
  }
  expect(lasted).toEqual([15_000, 30_000, 60_000, 120_000, 240_000, 300_000, 300_000, 300_000]);
  expect(health.of(subjects.model).state).toBe('open');
  health.answered('lab/a', subjects, 50);
  expect(health.of(subjects.model).state).toBe('ok');
});

test('a cool-down ends if the clock is set back to long before it', () => {
  const { health, now } = healthAt();
  now.ms = 86_400_000;
  health.failed(subjects, failure('model_timeout'));
  now.ms = 0;
  expect(health.of(subjects.model).state).toBe('open');
  expect(health.failed(subjects, failure('model_timeout'))?.untilMs).toBe(60_000);
  expect(health.of(subjects.model).state).toBe('cooling');
});

test('failures of concurrent requests count as one', () => {
  const { health } = healthAt();
  for (let n = 0; n < 5; n++) health.failed(subjects, failure('model_timeout'));
  expect(health.of(subjects.model).untilMs).toBe(31_000);
});

test('after a cool-down only one request is allowed at a time', () => {
  const { health, now } = healthAt();
  health.failed(subjects, failure('model_cut_off'));
  now.ms += 15_000;
  expect(health.of(subjects.model).state).toBe('open');
  health.beginTrial(subjects, 5_000);
  expect(health.of(subjects.model).state).toBe('trying');
  health.endTrial(subjects);
  expect(health.of(subjects.model).state).toBe('open');
  health.beginTrial(subjects, 5_000);
  now.ms += 5_000;
  expect(health.of(subjects.model).state).toBe('open');
});

test('stored health is read at the first lookup, and changes are saved once', () => {
  const row: HealthRow = { subject: 'model lab/a', untilMs: 9_000, failures: 2, why: 'timeout', latencyMs: 40 };
  const { health, saved } = healthAt([row]);
  expect([health.of(subjects.model), health.latencyMs('lab/a')]).toEqual([{ state: 'cooling', untilMs: 9_000, why: 'timeout' }, 40]);
  health.save();
  expect(saved).toEqual([]);
  health.answered('lab/a', subjects, 140);
  health.save();
  health.save();
  expect(saved).toMatchObject([{ subject: 'model lab/a', untilMs: 0, failures: 0, latencyMs: 70 }]);
});

test('changing the settings of a provider ends its cool-downs and no others', () => {
  const { health } = healthAt();
  const other = subjectsOf('labour/a', null);
  for (const one of [subjects, other]) for (const code of ['model_auth', 'model_timeout'] as const) health.failed(one, failure(code));
  health.forget('lab');
  expect([health.of(subjects.model, subjects.key).state, health.of(other.model).state, health.of(other.key).state]).toEqual([
    'ok',
    'cooling',
    'cooling',
  ]);
});
