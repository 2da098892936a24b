import fc from 'fast-check';
import { expect, test } from 'vitest';
import { localDay, localDayStartMs } from '../../base/local-day.ts';
import { BudgetBook, type BudgetLimits, type HistorySum, type SpendingHistory } from './budget.ts';

const NOON_MS = new Date(2026, 5, 15, 12).getTime();
const DAY_MS = 86_400_000;
const none: HistorySum = { usd: 0, tokens: 0, unknownCostCalls: 0 };
const noHistory: SpendingHistory = { spentInTurn: () => none, spentInSession: () => none, spentSince: () => none, extensions: () => [] };
const place = { turnId: 't1', sessionId: 's1', nowMs: NOON_MS };

test('reaches a limit exactly, without a rounding error', () => {
  const book = new BudgetBook({ perTurnUsd: 1 }, noHistory);
  for (let i = 0; i < 10; i++) {
    expect(book.check(place)).toBeNull();
    book.record({ ...place, costUsd: 0.1, tokens: 1 });
  }
  expect(book.check(place)).toEqual({ scope: 'turn', unit: 'usd', limit: 1, spent: 1, unknownCost: false });
  expect(book.check({ ...place, turnId: 't2' })).toBeNull();
});

test('enforces the limit of each scope and unit independently', () => {
  const limits: [BudgetLimits, object][] = [
    [{ perTurnTokens: 10 }, { scope: 'turn', unit: 'tokens', limit: 10, spent: 10 }],
    [{ perSessionUsd: 0.5 }, { scope: 'session', unit: 'usd', limit: 0.5, spent: 0.5 }],
    [{ perSessionTokens: 5 }, { scope: 'session', unit: 'tokens', limit: 5, spent: 10 }],
    [{ perDayUsd: 0.25 }, { scope: 'day', unit: 'usd', limit: 0.25, spent: 0.5 }],
    [{ perDayTokens: 10 }, { scope: 'day', unit: 'tokens', limit: 10, spent: 10 }],
  ];
  for (const [limit, expected] of limits) {
    const book = new BudgetBook(limit, noHistory);
    book.record({ ...place, costUsd: 0.5, tokens: 10 });
    expect(book.check(place)).toEqual({ ...expected, unknownCost: false });
  }
  expect(new BudgetBook({ perDayUsd: 0 }, noHistory).check(place)).toMatchObject({ scope: 'day', spent: 0 });
});

test('reports calls with an unknown price and counts only their tokens', () => {
  const book = new BudgetBook({ perTurnUsd: 1, perTurnTokens: 100 }, noHistory);
  book.record({ ...place, costUsd: null, tokens: 60 });
  expect(book.check(place)).toBeNull();
  const states = book
    .states({ turn: place, nowMs: NOON_MS })
    .map(({ scope, unit, spent, unknownCost }) => [scope, unit, spent, unknownCost]);
  expect(states.slice(0, 2)).toEqual([
    ['turn', 'usd', 0, true],
    ['turn', 'tokens', 60, true],
  ]);
  book.record({ ...place, costUsd: null, tokens: 60 });
  expect(book.check(place)).toEqual({ scope: 'turn', unit: 'tokens', limit: 100, spent: 120, unknownCost: true });
});

test('continues from the history after a restart', () => {
  const history: SpendingHistory = {
    ...noHistory,
    spentInTurn: (turnId) => (turnId === 't1' ? { ...none, usd: 0.5 } : none),
    spentInSession: (sessionId) => (sessionId === 's1' ? { ...none, usd: 0.7 } : none),
    spentSince: ({ sinceMs }) => (sinceMs === localDayStartMs(NOON_MS) ? { usd: 0.9, tokens: 7, unknownCostCalls: 1 } : none),
  };
  const book = new BudgetBook({ perDayUsd: 1 }, history);
  const about = { turn: place, sessionId: 's1', nowMs: NOON_MS };
  expect(book.states(about).map(({ scope, unit, spent, unknownCost }) => [scope, unit, spent, unknownCost])).toEqual([
    ['turn', 'usd', 0.5, false],
    ['turn', 'tokens', 0, false],
    ['session', 'usd', 0.7, false],
    ['session', 'tokens', 0, false],
    ['day', 'usd', 0.9, true],
    ['day', 'tokens', 7, true],
  ]);
  book.record({ ...place, turnId: 't2', sessionId: 's2', costUsd: 0.1, tokens: 1 });
  expect(book.check(place)).toMatchObject({ scope: 'day', spent: 1 });
  expect(book.check({ ...place, nowMs: NOON_MS + DAY_MS })).toBeNull();
  expect(book.check(place)).toMatchObject({ scope: 'day', spent: 1 });
});

const limitUsd = fc.option(
  fc.integer({ min: 0, max: 30 }).map((cents) => cents / 100),
  { nil: undefined },
);
const limitTokens = fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined });
const limits = fc.record({
  perTurnUsd: limitUsd,
  perSessionUsd: limitUsd,
  perDayUsd: limitUsd,
  perTurnTokens: limitTokens,
  perSessionTokens: limitTokens,
  perDayTokens: limitTokens,
});
const call = fc.record({
  turn: fc.nat({ max: 2 }),
  session: fc.nat({ max: 1 }),
  dayShift: fc.constantFrom(0, 0, 0, 1),
  cents: fc.option(fc.nat({ max: 9 })),
  tokens: fc.nat({ max: 60 }),
  restart: fc.boolean(),
});

test('starts no call at a limit and refuses none below all limits, across restarts', () => {
  fc.assert(
    fc.property(limits, fc.array(call, { maxLength: 60 }), (limit, calls) => {
      const done: { turnId: string; sessionId: string; nowMs: number; cents: number | null; tokens: number }[] = [];
      const sumOf = (belongs: (entry: (typeof done)[number]) => boolean): HistorySum & { cents: number } => {
        const entries = done.filter(belongs);
        const cents = entries.reduce((sum, entry) => sum + (entry.cents ?? 0), 0);
        const tokens = entries.reduce((sum, entry) => sum + entry.tokens, 0);
        return { cents, usd: cents / 100, tokens, unknownCostCalls: entries.filter((entry) => entry.cents === null).length };
      };
      const history: SpendingHistory = {
        ...noHistory,
        spentInTurn: (turnId) => sumOf((entry) => entry.turnId === turnId),
        spentInSession: (sessionId) => sumOf((entry) => entry.sessionId === sessionId),
        spentSince: ({ sinceMs }) => sumOf((entry) => entry.nowMs >= sinceMs),
      };
      let book = new BudgetBook(limit, history);
      let nowMs = NOON_MS;
      for (const { turn, session, dayShift, cents, tokens, restart } of calls) {
        nowMs += dayShift * DAY_MS;
        if (restart) book = new BudgetBook(limit, history);
        const here = { turnId: `t${session}-${turn}`, sessionId: `s${session}`, nowMs };
        const scopes = [
          [sumOf((entry) => entry.turnId === here.turnId), limit.perTurnUsd, limit.perTurnTokens],
          [sumOf((entry) => entry.sessionId === here.sessionId), limit.perSessionUsd, limit.perSessionTokens],
          [sumOf((entry) => localDay(entry.nowMs) === localDay(nowMs)), limit.perDayUsd, limit.perDayTokens],
        ] as const;
        const isReached = scopes.some(
          ([sum, usd, most]) => (usd !== undefined && sum.cents >= Math.round(usd * 100)) || (most !== undefined && sum.tokens >= most),
        );
        expect(book.check(here) !== null).toBe(isReached);
        if (isReached) continue;
        book.record({ ...here, costUsd: cents === null ? null : cents / 100, tokens });
        done.push({ ...here, cents, tokens });
      }
    }),
    { numRuns: 300 },
  );
});

test('bounds its memory and reloads evicted turns and sessions from the history', () => {
  let asked = 0;
  const history: SpendingHistory = {
    ...noHistory,
    spentInTurn: (turnId) => {
      asked += 1;
      return turnId === 't0' && asked > 1 ? { ...none, tokens: 5 } : none;
    },
  };
  const book = new BudgetBook({ perTurnTokens: 5 }, history);
  for (let i = 0; i < 3000; i++) book.record({ turnId: `t${i}`, sessionId: `s${i}`, nowMs: NOON_MS, costUsd: 0, tokens: 5 });
  expect(asked).toBe(3000);
  expect(book.check({ turnId: 't2999', sessionId: 's2999', nowMs: NOON_MS })).not.toBeNull();
  expect(asked).toBe(3000);
  expect(book.check({ turnId: 't0', sessionId: 's0', nowMs: NOON_MS })).toMatchObject({ scope: 'turn', spent: 5 });
  book.finishTurn('t2999');
  expect(book.check({ turnId: 't2999', sessionId: 's2999', nowMs: NOON_MS })).toBeNull();
});
