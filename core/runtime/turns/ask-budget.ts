// Reserves budget for one model call: estimates its cost, asks the budget book, and records a refusal.

import type { Admission, BudgetBreach, BudgetPlace, CallEstimate, Reservation, Room } from '../../guard/budget/budget.ts';
import type { RunningTurn, ShownPack } from './running-turn.ts';

/** The estimated answer of a running call. A longer answer can exceed a limit by the difference. */
export const answerTokens = 4_000;

/** An answer shorter than this is useless. */
const answerTokensMin = 16;
/** With more tokens left than this, an answer needs no separate limit. */
const BOUND_BELOW_TOKENS = 128_000;
/** The largest answer limit that is sent. A model with a lower maximum would refuse the request; no current model has one. */
const BOUND_TOKENS_MAX = 16_384;

export interface Admitted {
  readonly reservation: Reservation;
  /** The maximum answer that keeps the call within the limit; null if there is none. */
  readonly maxOutputTokens: number | null;
}

/** Null if the call must not be made: it was refused and the refusal recorded, or it was aborted while it waited for others. */
export function askBudget(runner: RunningTurn, model: string, pack: ShownPack): Admitted | null | Promise<Admitted | null> {
  const { deps, abort } = runner;
  const at = { ...budgetPlaceOf(runner), nowMs: deps.clock.nowMs() };
  const estimate = estimateCall(runner, model, pack);
  const admission = deps.budget.reserve(at, estimate, abort.signal);
  const take = (answer: Admission): Admitted | null => {
    if (!answer.ok) {
      recordRefusal(runner, answer.breach);
      return null;
    }
    if (answer.unpriced.length > 0) warnOnce(runner, { model, scopes: [...answer.unpriced] });
    return { reservation: answer.reservation, maxOutputTokens: answerBound(runner, model, { estimate, room: answer.room }) };
  };
  if (admission instanceof Promise) return admission.then((later) => (later === null ? null : take(later)));
  return take(admission);
}

/** The budgets that pay for the turn's model calls. */
export function budgetPlaceOf({ place, continues, bounds, helper }: RunningTurn): Omit<BudgetPlace, 'nowMs'> {
  return { ...place, continues, ...(bounds === null ? {} : { limits: bounds }), ...(helper === null ? {} : { payers: helper.payers }) };
}

/** The number of answer tokens that the remaining budget pays for. If the price is unknown, only the token budget limits it. */
function answerBound(
  { deps }: RunningTurn,
  model: string,
  { estimate: { inputTokens, inputUsd }, room }: { readonly estimate: CallEstimate; readonly room: Room },
): number | null {
  const usdForMillion = deps.models.cost(model, { inputTokens: 0, cachedInputTokens: 0, outputTokens: 1_000_000 });
  const byTokens = room.tokens === null ? Infinity : room.tokens - inputTokens;
  const isPriced = room.usd !== null && inputUsd !== null && usdForMillion !== null && usdForMillion > 0;
  const byUsd = isPriced ? ((room.usd - inputUsd) / usdForMillion) * 1_000_000 : Infinity;
  const bound = Math.floor(Math.min(byTokens, byUsd));
  return bound >= BOUND_BELOW_TOKENS ? null : Math.max(answerTokensMin, Math.min(bound, BOUND_TOKENS_MAX));
}

/** Counts input at its full price, because it is not yet known whether a cache will make it cheaper. */
function estimateCall({ deps }: RunningTurn, model: string, { tokens }: ShownPack): CallEstimate {
  const usage = { inputTokens: tokens, cachedInputTokens: 0 };
  return {
    inputTokens: tokens,
    inputUsd: deps.models.cost(model, { ...usage, outputTokens: 0 }),
    tokens: tokens + answerTokens,
    usd: deps.models.cost(model, { ...usage, outputTokens: answerTokens }),
    least: { tokens: tokens + answerTokensMin, usd: deps.models.cost(model, { ...usage, outputTokens: answerTokensMin }) },
  };
}

function recordRefusal(runner: RunningTurn, { scope, unit, limit, spent, needed }: BudgetBreach): void {
  runner.emit('budget.exceeded', { scope, unit, limit, spent, ...(needed === undefined ? {} : { needed }) });
}

/** Warns once per session, also across restarts, because the log remembers. */
function warnOnce(runner: RunningTurn, body: Parameters<typeof runner.emit<'budget.unpriced'>>[1]): void {
  const { deps, place } = runner;
  if (deps.log.reads.slice(place.sessionId, { types: ['budget.unpriced'], limit: 1 }).length > 0) return;
  runner.emit('budget.unpriced', body);
  runner.flush();
}
