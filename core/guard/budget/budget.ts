// Tracks spending per turn, session and local day in memory, and decides whether another model call may start. Does not record a refusal or
// stop the turn; the caller does that.

import { assert } from '../../base/assert.ts';
import { localDay, localDayStartMs } from '../../base/local-day.ts';
import type { Config } from '../../contracts/config.ts';
import type { BudgetScope, BudgetState, BudgetUnit } from '../../contracts/policy.ts';
import { Extensions, type BudgetExtension } from './extensions.ts';
import {
  breachOf,
  breachOfCall,
  heightOf,
  isCrowded,
  roomIn,
  statesOf,
  type BudgetBreach,
  type CallEstimate,
  type CallLimit,
  type Limit,
  type Room,
  type ScopeLimits,
} from './limit.ts';
import type { SpendingHistory } from './spending.ts';
import { addSpent, fromHistory, nothing, reserveIn, toUnits, toUsd, type Spent, type Sum } from './sum.ts';

export type { BudgetExtension } from './extensions.ts';
export { spendingOf, type SpendingHistory } from './spending.ts';
export { estimateOf, type BudgetBreach, type CallEstimate, type Room } from './limit.ts';

export type HistorySum = Spent;

export interface BudgetPlace {
  readonly turnId: string;
  readonly sessionId: string;
  readonly nowMs: number;
  /** Turns that this turn continues. They share one budget. */
  readonly continues?: readonly string[];
  /** The turn's own limit. If a limit is configured as well, the lower of the two applies. */
  readonly limits?: TurnLimit;
  /** Other turns charged for the same calls, each within its own limit. */
  readonly payers?: readonly BudgetPayer[];
}

export interface BudgetPayer extends TurnLimit {
  readonly turnId: string;
  readonly sessionId: string;
  readonly continues: readonly string[];
}

export interface TurnLimit {
  readonly usd: number | null;
  readonly tokens: number | null;
}

/** A budget extension granted by a person. The amount is added to the limit or, if it is higher, to the amount already spent. */
export interface More {
  readonly scope: BudgetScope;
  readonly unit: BudgetUnit;
  readonly amount: number;
}

export type BudgetLimits = Config['budget'];

/** A reservation for one model call. `settle` must be called exactly once. */
export interface Reservation {
  /**
   * Releases the reservation and records the cost of the call. `spent` is null if nothing was billed; `costUsd` is null if the price is
   * unknown.
   */
  settle(spent: { readonly nowMs: number; readonly costUsd: number | null; readonly tokens: number } | null): void;
}

export type Admission =
  | {
      readonly ok: true;
      readonly reservation: Reservation;
      /** Scopes whose US dollar limit cannot be enforced for this call because its price is unknown. */
      readonly unpriced: readonly BudgetScope[];
      /** The upper bound for the call, request and answer together. */
      readonly room: Room;
    }
  | { readonly ok: false; readonly breach: BudgetBreach };

/** Beyond this number, the least recently used sums are evicted. They are reloaded from the history when needed. */
const ENTRIES_MAX = 2000;
const DAYS_MAX = 3;
const noCall: CallEstimate = { inputTokens: 0, inputUsd: 0, tokens: 0, usd: 0 };
const scopes: readonly BudgetScope[] = ['turn', 'session', 'day'];
const unlimited: Admission = { ok: true, reservation: { settle: () => undefined }, unpriced: [], room: { usd: null, tokens: null } };

export class BudgetBook {
  readonly #limits: BudgetLimits;
  readonly #history: SpendingHistory;
  readonly #extensions: Extensions;
  readonly #turns = new Map<string, Sum>();
  readonly #sessions = new Map<string, Sum>();
  readonly #days = new Map<string, Sum>();
  /** Calls waiting for calls in flight, in order of arrival. */
  #waiting: (() => void)[] = [];

  constructor(limits: BudgetLimits, history: SpendingHistory) {
    this.#limits = limits;
    this.#history = history;
    this.#extensions = new Extensions(() => history.extensions());
  }

  /**
   * Must be called before every model call. Refuses the call if a limit is reached or the request alone would exceed it; the narrowest
   * scope is reported. Near a limit, calls run one at a time: a call waits while calls in flight might still use the remaining budget, so
   * together they exceed a limit by at most the answer of one call. Returns null if the signal aborts while waiting.
   */
  reserve(place: BudgetPlace, estimate: CallEstimate, signal: AbortSignal): Admission | Promise<Admission | null> {
    // Without limits, nothing is reserved or read from the history. Spending is then only reported.
    if (this.#limited(place).length === 0) return unlimited;
    const breach = breachOfCall(this.#callLimit, estimate);
    if (breach !== null) return { ok: false, breach };
    return this.#tryReserve(place, estimate) ?? this.#reserveLater(place, estimate, signal);
  }

  /**
   * Returns the first limit that blocks the call, narrowest scope first, or null. A limit of 0 allows no call. If the price of a call is
   * unknown, a US dollar limit cannot be enforced; only a token limit can.
   */
  check(place: BudgetPlace, estimate: CallEstimate = noCall): BudgetBreach | null {
    for (const scope of scopes) {
      const breach = breachOf(this.#scope(scope, place), estimate);
      if (breach !== null) return breach;
    }
    return null;
  }

  /** Returns the budget available to one call now. Its values are null where there is no limit. */
  room(place: BudgetPlace): Room {
    return roomIn(
      this.#callLimit,
      this.#limited(place).map(({ scope, at }) => this.#scope(scope, at)),
    );
  }

  /** For work outside any turn and session. Returns the daily limit that blocks the call, or null. */
  checkDay(nowMs: number, estimate: CallEstimate): BudgetBreach | null {
    return breachOf(this.#scope('day', { turnId: '', sessionId: '', nowMs }), estimate);
  }

  /** Adds spending to the day only. Call `checkDay` first: it loads the day's sum, so spending in the history is not counted twice. */
  recordDay({ nowMs, costUsd, tokens }: { readonly nowMs: number; readonly costUsd: number | null; readonly tokens: number }): void {
    if (this.#isConfigured) addSpent(this.#sum('day', { turnId: '', sessionId: '', nowMs }), costUsd, tokens);
  }

  /** Records one finished call. `tokens` is input plus output; `costUsd` is null if the price is unknown. */
  record(call: BudgetPlace & { readonly costUsd: number | null; readonly tokens: number }): void {
    assert(call.tokens >= 0 && (call.costUsd === null || call.costUsd >= 0), 'spending is never negative');
    for (const { scope, at } of this.#limited(call)) addSpent(this.#sum(scope, at), call.costUsd, call.tokens);
  }

  /** Returns the limits of the given turn and session and of the day. Scopes that are not given are left out. */
  states(place: { readonly turn?: BudgetPlace; readonly sessionId?: string; readonly nowMs: number }): BudgetState[] {
    const { turn, sessionId, nowMs } = place;
    const anyTurn = { turnId: '', sessionId: sessionId ?? '', nowMs };
    return [
      ...(turn === undefined ? [] : statesOf(this.#scope('turn', turn))),
      ...(sessionId === undefined ? [] : statesOf(this.#scope('session', anyTurn))),
      ...statesOf(this.#scope('day', anyTurn)),
    ];
  }

  /** Computes the event of an extension, or null if there is no such limit. Changes nothing: call `extend` once the event is in the log. */
  planMore(place: BudgetPlace, more: More): (BudgetExtension & { readonly limit: number }) | null {
    const { scope, unit } = more;
    const { sum, [unit]: limit } = this.#scope(scope, place);
    if (limit === null) return null;
    const isUsd = unit === 'usd';
    const spent = isUsd ? sum.usdUnits : sum.tokens;
    const height = heightOf(limit);
    const raisedBy = Math.max(0, spent - height) + (isUsd ? toUnits(more.amount) : more.amount);
    const told = (amount: number): number => (isUsd ? toUsd(amount) : amount);
    return {
      scope,
      unit,
      raisedBy: told(raisedBy),
      limit: told(height + raisedBy),
      turnId: scope === 'turn' ? place.turnId : null,
      sessionId: scope === 'day' ? null : place.sessionId,
      day: scope === 'day' ? localDay(place.nowMs) : null,
    };
  }

  extend(extension: BudgetExtension): void {
    this.#extensions.add(extension);
    this.#wake();
  }

  /** Forgets a finished turn. Its spending still counts in its session and day. */
  finishTurn(turnId: string): void {
    this.#turns.delete(turnId);
  }

  get #callLimit(): CallLimit {
    return { usd: this.#limits.perCallUsd, tokens: this.#limits.perCallTokens };
  }

  get #isConfigured(): boolean {
    return Object.values(this.#limits).some((limit) => limit !== undefined);
  }

  /** The sums that a call is added to, narrowest first. If no limit is configured, only turns with their own limits are included. */
  #limited(place: BudgetPlace): { readonly scope: BudgetScope; readonly at: BudgetPlace }[] {
    const turns = [place, ...(place.payers ?? []).map((payer) => ({ ...payer, nowMs: place.nowMs, limits: payer }))];
    if (!this.#isConfigured) return turns.filter(hasOwnLimit).map((at) => ({ scope: 'turn', at }));
    const sessions = new Map(turns.map((at) => [at.sessionId, at]));
    return [
      ...turns.map((at) => ({ scope: 'turn' as const, at })),
      ...[...sessions.values()].map((at) => ({ scope: 'session' as const, at })),
      { scope: 'day', at: place },
    ];
  }

  /** Returns null if the call has to wait. */
  #tryReserve(place: BudgetPlace, estimate: CallEstimate): Admission | null {
    const limited = this.#limited(place).map(({ scope, at }) => this.#scope(scope, at));
    for (const scope of limited) {
      const breach = breachOf(scope, estimate);
      if (breach !== null) return { ok: false, breach };
    }
    if (limited.some((scope) => isCrowded(scope, estimate))) return null;
    const room = roomIn(this.#callLimit, limited);
    for (const { sum } of limited) reserveIn(sum, estimate, 1);
    const settle: Reservation['settle'] = (spent) => {
      for (const { sum } of limited) reserveIn(sum, estimate, -1);
      if (spent !== null) this.record({ ...place, ...spent });
      this.#wake();
    };
    const unpriced = estimate.usd === null ? limited.filter(({ usd }) => usd !== null).map(({ scope }) => scope) : [];
    return { ok: true, reservation: { settle }, unpriced, room };
  }

  async #reserveLater(place: BudgetPlace, estimate: CallEstimate, signal: AbortSignal): Promise<Admission | null> {
    while (!signal.aborted) {
      const admission = this.#tryReserve(place, estimate);
      if (admission !== null) return admission;
      await this.#nextChange(signal);
    }
    return null;
  }

  /** Resolves when budget may have been freed or the signal aborts. */
  #nextChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        signal.removeEventListener('abort', finish);
        resolve();
      };
      this.#waiting.push(finish);
      signal.addEventListener('abort', finish, { once: true });
    });
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  #scope(scope: BudgetScope, place: BudgetPlace): ScopeLimits {
    const { perTurnUsd, perSessionUsd, perDayUsd, perTurnTokens, perSessionTokens, perDayTokens } = this.#limits;
    const own = place.limits;
    const usd = { turn: lower(perTurnUsd, own?.usd), session: perSessionUsd, day: perDayUsd }[scope];
    const tokens = { turn: lower(perTurnTokens, own?.tokens), session: perSessionTokens, day: perDayTokens }[scope];
    return {
      scope,
      sum: this.#sum(scope, place),
      usd: usd === undefined ? null : this.#limit(scope, 'usd', place, toUnits(usd)),
      tokens: tokens === undefined ? null : this.#limit(scope, 'tokens', place, tokens),
    };
  }

  #limit(scope: BudgetScope, unit: BudgetUnit, place: BudgetPlace, configured: number): Limit {
    const keys = { turn: turnsOf(place), session: [place.sessionId], day: [localDay(place.nowMs)] }[scope];
    let raisedBy = 0;
    for (const key of keys) raisedBy += this.#extensions.raisedBy(scope, unit, key, configured);
    return { configured, raisedBy };
  }

  #sum(scope: BudgetScope, place: BudgetPlace): Sum {
    const history = this.#history;
    const inTurn = (): Sum => fromHistory(...turnsOf(place).map((turnId) => history.spentInTurn(turnId)));
    const inSession = (): Sum => fromHistory(history.spentInSession(place.sessionId));
    const today = (): Sum => fromHistory(history.spentSince({ sinceMs: localDayStartMs(place.nowMs) }));
    // Sums that are not kept up to date are recomputed on each call.
    const isKept = this.#isConfigured || (scope === 'turn' && hasOwnLimit(place));
    if (!isKept) return { turn: inTurn, session: inSession, day: today }[scope]();
    if (scope === 'turn') return recall(this.#turns, place.turnId, inTurn);
    if (scope === 'session') return recall(this.#sessions, place.sessionId, inSession);
    return this.#day(localDay(place.nowMs), today);
  }

  #day(key: string, ask: () => Sum): Sum {
    const known = this.#days.get(key);
    if (known !== undefined) return known;
    // A day that begins while this process runs starts at zero. The history may already contain its first call, which would then be counted
    // twice.
    const isNewer = this.#days.size > 0 && [...this.#days.keys()].every((day) => day < key);
    const sum = isNewer ? nothing() : ask();
    this.#days.set(key, sum);
    if (this.#days.size > DAYS_MAX) this.#days.delete([...this.#days.keys()].sort()[0] ?? key);
    return sum;
  }
}

function hasOwnLimit({ limits }: BudgetPlace): boolean {
  return limits !== undefined && (limits.usd !== null || limits.tokens !== null);
}

function lower(configured: number | undefined, own: number | null | undefined): number | undefined {
  return configured === undefined ? (own ?? undefined) : Math.min(configured, own ?? configured);
}

function turnsOf({ turnId, continues }: BudgetPlace): readonly string[] {
  return continues === undefined || continues.length === 0 ? [turnId] : [...continues, turnId];
}

function recall(sums: Map<string, Sum>, key: string, ask: () => Sum): Sum {
  const sum = sums.get(key) ?? ask();
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
