// What was spent per turn, session and local day, kept in memory, and whether one more model call may start.
// Decides only; recording the refusal and stopping the turn belong to the caller.

import { assert } from '../../base/assert.ts';
import { localDay, localDayStartMs } from '../../base/local-day.ts';
import type { Config } from '../../contracts/config.ts';
import type { BudgetScope } from '../../contracts/policy.ts';
import { addSpent, fromHistory, nothing, toUsd, USD_UNITS, type Sum } from './sum.ts';

/** What is known of the time before this process; each answer must be complete up to now. */
export interface SpendingHistory {
  spentInTurn(turnId: string): HistorySum;
  spentInSession(sessionId: string): HistorySum;
  spentSince(query: { readonly sinceMs: number }): HistorySum;
}

export interface HistorySum {
  readonly usd: number;
  readonly tokens: number;
  readonly unknownCostCalls: number;
}

export interface BudgetPlace {
  readonly turnId: string;
  readonly sessionId: string;
  readonly nowMs: number;
}

export interface BudgetBreach {
  readonly scope: BudgetScope;
  readonly unit: 'usd' | 'tokens';
  readonly limit: number;
  readonly spent: number;
  /** Some calls of this scope had no known price: `spent` in US dollars is a lower bound. */
  readonly unknownCost: boolean;
}

export interface ScopeSpending {
  readonly usd: number;
  readonly tokens: number;
  readonly unknownCost: boolean;
}

export type BudgetLimits = Config['budget'];

/** Least recently used ones beyond this are forgotten and, if needed again, asked of the history. */
const ENTRIES_MAX = 2000;
const DAYS_MAX = 3;

/** With no limit configured nothing is kept or asked: spending is then only reported. */
export function createBudget(limits: BudgetLimits, history: SpendingHistory): Pick<BudgetBook, 'check' | 'record' | 'finishTurn'> {
  if (Object.values(limits).some((limit) => limit !== undefined)) return new BudgetBook(limits, history);
  return { check: () => null, record: () => undefined, finishTurn: () => undefined };
}

export class BudgetBook {
  #limits: BudgetLimits;
  readonly #history: SpendingHistory;
  readonly #turns = new Map<string, Sum>();
  readonly #sessions = new Map<string, Sum>();
  readonly #days = new Map<string, Sum>();

  constructor(limits: BudgetLimits, history: SpendingHistory) {
    this.#limits = limits;
    this.#history = history;
  }

  setLimits(limits: BudgetLimits): void {
    this.#limits = limits;
  }

  /**
   * To ask before every model call: null, or the first limit already reached, narrowest scope first. A limit of 0 allows no call.
   * Where the price is unknown a US-dollar limit cannot hold, only a token limit can; `spending().unknownCost` says so.
   */
  check(place: BudgetPlace): BudgetBreach | null {
    const limits = this.#limits;
    const { turn, session, day } = this.#sums(place);
    return (
      breach('turn', turn, limits.perTurnUsd, limits.perTurnTokens) ??
      breach('session', session, limits.perSessionUsd, limits.perSessionTokens) ??
      breach('day', day, limits.perDayUsd, limits.perDayTokens)
    );
  }

  /** Adds one finished call; `tokens` is input and output together, `costUsd` null where the price is unknown. */
  record(call: BudgetPlace & { readonly costUsd: number | null; readonly tokens: number }): void {
    assert(call.tokens >= 0 && (call.costUsd === null || call.costUsd >= 0), 'spending is never negative');
    const { turn, session, day } = this.#sums(call);
    for (const sum of [turn, session, day]) addSpent(sum, call.costUsd, call.tokens);
  }

  spending(place: BudgetPlace): { turn: ScopeSpending; session: ScopeSpending; day: ScopeSpending } {
    const { turn, session, day } = this.#sums(place);
    return { turn: toSpending(turn), session: toSpending(session), day: toSpending(day) };
  }

  /** Forgets a finished turn. Its spending stays in its session and day. */
  finishTurn(turnId: string): void {
    this.#turns.delete(turnId);
  }

  #sums(place: BudgetPlace): { turn: Sum; session: Sum; day: Sum } {
    const { turnId, sessionId } = place;
    return {
      turn: recall(this.#turns, turnId, () => this.#history.spentInTurn(turnId)),
      session: recall(this.#sessions, sessionId, () => this.#history.spentInSession(sessionId)),
      day: this.#day(place.nowMs),
    };
  }

  #day(nowMs: number): Sum {
    const key = localDay(nowMs);
    const known = this.#days.get(key);
    if (known !== undefined) return known;
    // A day that begins while this process runs begins at nothing. History may hold its first call already; asking would count it twice.
    const isNewer = this.#days.size > 0 && [...this.#days.keys()].every((day) => day < key);
    const sum = isNewer ? nothing() : fromHistory(this.#history.spentSince({ sinceMs: localDayStartMs(nowMs) }));
    this.#days.set(key, sum);
    if (this.#days.size > DAYS_MAX) this.#days.delete([...this.#days.keys()].sort()[0] ?? key);
    return sum;
  }
}

function recall(sums: Map<string, Sum>, key: string, ask: () => HistorySum): Sum {
  const sum = sums.get(key) ?? fromHistory(ask());
  // Re-inserted last: a Map keeps the order of insertion, so the first key is the least recently used.
  sums.delete(key);
  sums.set(key, sum);
  if (sums.size > ENTRIES_MAX) {
    for (const oldest of sums.keys()) {
      sums.delete(oldest);
      break;
    }
  }
  return sum;
}

function breach(scope: BudgetScope, sum: Sum, usdLimit: number | undefined, tokenLimit: number | undefined): BudgetBreach | null {
  const unknownCost = sum.unknownCostCalls > 0;
  if (usdLimit !== undefined && sum.usdUnits >= Math.round(usdLimit * USD_UNITS)) {
    return { scope, unit: 'usd', limit: usdLimit, spent: toUsd(sum), unknownCost };
  }
  if (tokenLimit !== undefined && sum.tokens >= tokenLimit) {
    return { scope, unit: 'tokens', limit: tokenLimit, spent: sum.tokens, unknownCost };
  }
  return null;
}

function toSpending(sum: Sum): ScopeSpending {
  return { usd: toUsd(sum), tokens: sum.tokens, unknownCost: sum.unknownCostCalls > 0 };
}
