// Tracks spending per turn, session and local day in memory, and decides whether one more model call may start. Decides only; the caller
// records the refusal and stops the turn.

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
export type { BudgetBreach, CallEstimate, Room } from './limit.ts';

export type HistorySum = Spent;

export interface BudgetPlace {
  readonly turnId: string;
  readonly sessionId: string;
  readonly nowMs: number;
  /** Turns whose work this one takes up: they share one budget. */
  readonly continues?: readonly string[];
  /** The turn's own limit; the lower of this and the configured limit counts. */
  readonly limits?: TurnLimit;
  /** Other turns that pay as well, each within its own limit. */
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

/** An extension a person allows: an amount beyond the limit, or beyond the spending if that is more. */
export interface More {
  readonly scope: BudgetScope;
  readonly unit: BudgetUnit;
  readonly amount: number;
}

export type BudgetLimits = Config['budget'];

/** Room for one model call. To be settled exactly once. */
export interface Reservation {
  /** Releases the reservation and counts the cost of the call: `costUsd` null if the price is unknown, null for nothing billed. */
  settle(spent: { readonly nowMs: number; readonly costUsd: number | null; readonly tokens: number } | null): void;
}

export type Admission =
  | {
      readonly ok: true;
      readonly reservation: Reservation;
      /** Scopes whose limit in US dollars cannot hold for this call, because its price is unknown. */
      readonly unpriced: readonly BudgetScope[];
      /** The maximum size of the call, request and answer together. */
      readonly room: Room;
    }
  | { readonly ok: false; readonly breach: BudgetBreach };

/** Least recently used ones beyond this are forgotten and, if needed again, asked of the history. */
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
  /** Calls that wait for others under way, in the order they came. */
  #waiting: (() => void)[] = [];

  constructor(limits: BudgetLimits, history: SpendingHistory) {
    this.#limits = limits;
    this.#history = history;
    this.#extensions = new Extensions(() => history.extensions());
  }

  /**
   * To ask before every model call. Refused when a limit is reached, or when the request alone would pass it, narrowest scope first.
   * Near a limit calls run one after the other: one waits while others under way might still use the room, so that together they
   * pass a limit by no more than what the last one's answer goes beyond it. Null when the signal aborts while waiting.
   */
  reserve(place: BudgetPlace, estimate: CallEstimate, signal: AbortSignal): Admission | Promise<Admission | null> {
    // With no limit nothing is kept or asked: spending is then only reported.
    if (this.#limited(place).length === 0) return unlimited;
    const breach = breachOfCall(this.#callLimit, estimate);
    if (breach !== null) return { ok: false, breach };
    return this.#tryReserve(place, estimate) ?? this.#reserveLater(place, estimate, signal);
  }

  /**
   * Null, or the first limit in the way, narrowest scope first. A limit of 0 allows no call.
   * Where the price is unknown a US-dollar limit cannot hold, only a token limit can.
   */
  check(place: BudgetPlace, estimate: CallEstimate = noCall): BudgetBreach | null {
    for (const scope of scopes) {
      const breach = breachOf(this.#scope(scope, place), estimate);
      if (breach !== null) return breach;
    }
    return null;
  }

  /** The room the limits leave for one call now; null without a limit. */
  room(place: BudgetPlace): Room {
    return roomIn(
      this.#callLimit,
      this.#limited(place).map(({ scope, at }) => this.#scope(scope, at)),
    );
  }

  /** For work of no turn and no session: null, or the limit of the day that is in the way. */
  checkDay(nowMs: number, estimate: CallEstimate): BudgetBreach | null {
    return breachOf(this.#scope('day', { turnId: '', sessionId: '', nowMs }), estimate);
  }

  /** Counts in the day alone. To be preceded by `checkDay`, so that what history holds is not counted twice. */
  recordDay({ nowMs, costUsd, tokens }: { readonly nowMs: number; readonly costUsd: number | null; readonly tokens: number }): void {
    if (this.#isConfigured) addSpent(this.#sum('day', { turnId: '', sessionId: '', nowMs }), costUsd, tokens);
  }

  /** Adds one finished call; `tokens` is input and output together, `costUsd` null where the price is unknown. */
  record(call: BudgetPlace & { readonly costUsd: number | null; readonly tokens: number }): void {
    assert(call.tokens >= 0 && (call.costUsd === null || call.costUsd >= 0), 'spending is never negative');
    for (const { scope, at } of this.#limited(call)) addSpent(this.#sum(scope, at), call.costUsd, call.tokens);
  }

  /** The limits of a turn, a session and the day; scopes that are not named are left out. */
  states(place: { readonly turn?: BudgetPlace; readonly sessionId?: string; readonly nowMs: number }): BudgetState[] {
    const { turn, sessionId, nowMs } = place;
    const anyTurn = { turnId: '', sessionId: sessionId ?? '', nowMs };
    return [
      ...(turn === undefined ? [] : statesOf(this.#scope('turn', turn))),
      ...(sessionId === undefined ? [] : statesOf(this.#scope('session', anyTurn))),
      ...statesOf(this.#scope('day', anyTurn)),
    ];
  }

  /** Computes the event of an extension; null if there is no such limit. Changes nothing: `extend` does, once it is in the log. */
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

  /** Forgets a finished turn. Its spending stays in its session and day. */
  finishTurn(turnId: string): void {
    this.#turns.delete(turnId);
  }

  get #callLimit(): CallLimit {
    return { usd: this.#limits.perCallUsd, tokens: this.#limits.perCallTokens };
  }

  get #isConfigured(): boolean {
    return Object.values(this.#limits).some((limit) => limit !== undefined);
  }

  /**
   * The sums a call counts in, narrowest first: all of them once anything is configured, else only those of turns with their own limits.
   */
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

  /** Null when it has to wait. */
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

  /** Resolves when room may have become free, or the signal aborts. */
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
    // Sums that are not kept up to date are computed each time.
    const isKept = this.#isConfigured || (scope === 'turn' && hasOwnLimit(place));
    if (!isKept) return { turn: inTurn, session: inSession, day: today }[scope]();
    if (scope === 'turn') return recall(this.#turns, place.turnId, inTurn);
    if (scope === 'session') return recall(this.#sessions, place.sessionId, inSession);
    return this.#day(localDay(place.nowMs), today);
  }

  #day(key: string, ask: () => Sum): Sum {
    const known = this.#days.get(key);
    if (known !== undefined) return known;
    // A day that begins while this process runs starts at zero. History may hold its first call already; adding it would count it twice.
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
