// Reservations for calls in flight, checks before a call, and extensions.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { localDay } from '../../base/local-day.ts';
import { BudgetBook, type Admission, type BudgetExtension, type BudgetLimits, type CallEstimate, type SpendingHistory } from './budget.ts';

const NOON_MS = new Date(2026, 5, 15, 12).getTime();
const DAY_MS = 86_400_000;
const none = { usd: 0, tokens: 0, unknownCostCalls: 0 };
const noHistory: SpendingHistory = { spentInTurn: () => none, spentInSession: () => none, spentSince: () => none, extensions: () => [] };
const place = { turnId: 't1', sessionId: 's1', nowMs: NOON_MS };
const never = new AbortController().signal;
const call = (inputUsd: number, usd = inputUsd): CallEstimate => ({ inputTokens: 10, inputUsd, tokens: 20, usd });

function admitted(admission: Admission | Promise<Admission | null>): Extract<Admission, { ok: true }> {
  if (admission instanceof Promise || !admission.ok) throw new Error('there was no room');
  return admission;
}

function refused(admission: Admission | Promise<Admission | null>): unknown {
  if (admission instanceof Promise || admission.ok) throw new Error('there was room');
  return admission.breach;
}

test('refuses a request that alone would exceed a limit, in money and in tokens', () => {
  const usd = new BudgetBook({ perSessionUsd: 1 }, noHistory);
  usd.record({ ...place, costUsd: 0.75, tokens: 0 });
  expect(refused(usd.reserve(place, call(0.26), never))).toEqual({
    scope: 'session',
    unit: 'usd',
    limit: 1,
    spent: 0.75,
    needed: 0.26,
    unknownCost: false,
  });
  admitted(usd.reserve(place, call(0.25, 100), never));
  const tokens = new BudgetBook({ perTurnTokens: 15 }, noHistory);
  tokens.record({ ...place, costUsd: null, tokens: 6 });
  expect(refused(tokens.reserve(place, call(0), never))).toMatchObject({ scope: 'turn', unit: 'tokens', needed: 10, spent: 6 });
});

test('does not read the history if there is no limit', () => {
  const book = new BudgetBook({}, { ...noHistory, spentInTurn: () => expect.unreachable(), extensions: () => expect.unreachable() });
  expect(admitted(book.reserve(place, call(1e9), never)).unpriced).toEqual([]);
});

test('reports the scopes whose limit an unknown price disables', () => {
  const book = new BudgetBook({ perTurnUsd: 1, perDayUsd: 1, perSessionTokens: 100 }, noHistory);
  expect(admitted(book.reserve(place, { inputTokens: 1, inputUsd: null, tokens: 2, usd: null }, never)).unpriced).toEqual(['turn', 'day']);
  expect(admitted(book.reserve({ ...place, sessionId: 's2' }, call(0.1), never)).unpriced).toEqual([]);
});

test('a call waits for reserved budget, then runs, fails or is aborted', async () => {
  const book = new BudgetBook({ perDayUsd: 1 }, noHistory);
  const first = admitted(book.reserve(place, call(0.1, 0.8), never)).reservation;
  const later = book.reserve({ ...place, sessionId: 's2' }, call(0.1, 0.8), never);
  expect(later).toBeInstanceOf(Promise);
  first.settle({ nowMs: NOON_MS, costUsd: 0.3, tokens: 1 });
  const second = admitted((await later) ?? expect.unreachable()).reservation;
  const third = book.reserve({ ...place, sessionId: 's3' }, call(0.1, 0.8), never);
  second.settle({ nowMs: NOON_MS, costUsd: 0.7, tokens: 1 });
  expect(refused((await third) ?? expect.unreachable())).toMatchObject({ scope: 'day', spent: 1 });

  const gone = new AbortController();
  const other = new BudgetBook({ perDayUsd: 1 }, noHistory);
  admitted(other.reserve(place, call(0.9), never));
  const waiting = other.reserve(place, call(0.9), gone.signal);
  gone.abort();
  expect(await waiting).toBeNull();
});

test('releases the full reservation if nothing was billed', () => {
  const book = new BudgetBook({ perDayUsd: 1 }, noHistory);
  admitted(book.reserve(place, call(0.9), never)).reservation.settle(null);
  expect(book.states({ nowMs: NOON_MS })[0]).toMatchObject({ spent: 0, reserved: 0 });
});

test('an extension adds to the higher of limit and spending, and wakes waiting calls', async () => {
  const book = new BudgetBook({ perTurnUsd: 1 }, noHistory);
  book.record({ ...place, costUsd: 1.3, tokens: 1 });
  const planned = book.planMore(place, { scope: 'turn', unit: 'usd', amount: 0.5 });
  expect(planned).toEqual({ scope: 'turn', unit: 'usd', raisedBy: 0.8, limit: 1.8, turnId: 't1', sessionId: 's1', day: null });
  expect(book.check(place)).not.toBeNull();
  book.extend(planned ?? expect.unreachable());
  expect(book.check(place)).toBeNull();
  expect(book.check({ ...place, turnId: 't2', continues: ['t1'] })).toBeNull();
  expect(book.planMore(place, { scope: 'turn', unit: 'tokens', amount: 5 })).toBeNull();
  expect(book.planMore(place, { scope: 'day', unit: 'usd', amount: 5 })).toBeNull();

  const day = new BudgetBook({ perDayUsd: 1 }, noHistory);
  admitted(day.reserve(place, call(0.9), never));
  const waiting = day.reserve(place, call(0.9), never);
  day.extend(day.planMore(place, { scope: 'day', unit: 'usd', amount: 1 }) ?? expect.unreachable());
  expect(await waiting).toMatchObject({ ok: true });
});

test('reloads extensions after a restart; a daily extension ends with its day', () => {
  const extensions: BudgetExtension[] = [
    { scope: 'day', unit: 'usd', raisedBy: 1, limit: 2, turnId: null, sessionId: null, day: localDay(NOON_MS) },
    { scope: 'session', unit: 'tokens', raisedBy: 5, limit: 15, turnId: null, sessionId: 's1', day: null },
    { scope: 'session', unit: 'tokens', raisedBy: 5, limit: 20, turnId: null, sessionId: 's1', day: null },
  ];
  const book = new BudgetBook({ perDayUsd: 1, perSessionTokens: 10 }, { ...noHistory, extensions: () => extensions });
  const limits = (nowMs: number, sessionId: string): unknown[] => book.states({ nowMs, sessionId }).map(({ limit }) => limit);
  expect(limits(NOON_MS, 's1')).toEqual([null, 20, 2, null]);
  expect(limits(NOON_MS + DAY_MS, 's2')).toEqual([null, 10, 1, null]);
});

test('lowering a limit cancels extensions that were added to the higher limit', () => {
  const day = localDay(NOON_MS);
  const about = { scope: 'day', unit: 'usd', turnId: null, sessionId: null, day } as const;
  const heights = (perDayUsd: number, extensions: readonly BudgetExtension[]): unknown =>
    new BudgetBook({ perDayUsd }, { ...noHistory, extensions: () => extensions }).states({ nowMs: NOON_MS })[0]?.limit;
  const given = [
    { ...about, raisedBy: 50, limit: 55 },
    { ...about, raisedBy: 10, limit: 65 },
  ];
  expect([0, 4, 5, 8].map((configured) => heights(configured, given))).toEqual([0, 4, 65, 68]);
  // A new extension after the limit was lowered.
  expect(heights(0, [...given, { ...about, raisedBy: 2, limit: 2 }])).toBe(2);
});

test('a turn that continues another shares its budget', () => {
  const history: SpendingHistory = { ...noHistory, spentInTurn: (turnId) => ({ ...none, usd: turnId === 't1' ? 0.7 : 0.2 }) };
  const book = new BudgetBook({ perTurnUsd: 1 }, history);
  expect(book.check({ ...place, turnId: 't3', continues: ['t1', 't2'] })).toMatchObject({ spent: 1.1 });
});

/** Calls start and end in any order. An answer costs at most its estimate or, for one call in `rare`, more. */
test('concurrent calls exceed a limit by at most one answer', async () => {
  const step = fc.record({ ends: fc.boolean(), which: fc.nat(7), inputCents: fc.integer({ min: 1, max: 5 }), answerCents: fc.nat(20) });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 100 }), fc.array(step, { maxLength: 60 }), async (limitCents, steps) => {
      const limits: BudgetLimits = { perDayUsd: limitCents / 100 };
      const book = new BudgetBook(limits, noHistory);
      const answerMax = 20;
      let spentCents = 0;
      let largest = 0;
      const underWay: { settle: () => void }[] = [];
      const begin = (inputCents: number, answerCents: number): void => {
        const estimate = call(inputCents / 100, (inputCents + answerMax) / 100);
        const take = (admission: Admission | null): void => {
          if (admission?.ok !== true) return;
          underWay.push({
            settle: () => {
              spentCents += inputCents + answerCents;
              largest = Math.max(largest, answerCents);
              admission.reservation.settle({ nowMs: NOON_MS, costUsd: (inputCents + answerCents) / 100, tokens: 1 });
            },
          });
        };
        const admission = book.reserve({ ...place, sessionId: `s${inputCents}` }, estimate, never);
        if (admission instanceof Promise) void admission.then(take);
        else take(admission);
      };
      for (const { ends, which, inputCents, answerCents } of steps) {
        if (ends) underWay.splice(which % Math.max(1, underWay.length), 1)[0]?.settle();
        else begin(inputCents, answerCents);
        await new Promise((resolve) => setImmediate(resolve));
      }
      while (underWay.length > 0) {
        underWay.shift()?.settle();
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(spentCents).toBeLessThanOrEqual(limitCents + largest);
    }),
    { numRuns: 100 },
  );
});
