// Room for one model call in the budget: what it will come to is estimated, the book is asked, and a refusal is recorded.

import type { Admission, CallEstimate, Reservation } from '../../guard/budget/budget.ts';
import type { RunningTurn, ShownPack } from './running-turn.ts';

/** The answer to reckon with while a call is under way. A longer one can pass a limit by what it is longer. */
export const answerTokens = 4_000;

/** Null when the call must not be made: refused, which is then on record, or cut off while it waited for others. */
export function askBudget(runner: RunningTurn, model: string, pack: ShownPack): Reservation | null | Promise<Reservation | null> {
  const { deps, place, continues, abort, bounds, helper } = runner;
  const at = {
    ...place,
    nowMs: deps.clock.nowMs(),
    continues,
    ...(bounds === null ? {} : { limits: bounds }),
    ...(helper === null ? {} : { payers: helper.payers }),
  };
  const admission = deps.budget.reserve(at, estimateCall(runner, model, pack), abort.signal);
  if (admission instanceof Promise) return admission.then((later) => (later === null ? null : admit(runner, model, later)));
  return admit(runner, model, admission);
}

/** Input at its full price: whether a cache will make it cheaper is not known before. */
function estimateCall({ deps }: RunningTurn, model: string, { tokens }: ShownPack): CallEstimate {
  const usage = { inputTokens: tokens, cachedInputTokens: 0 };
  return {
    inputTokens: tokens,
    inputUsd: deps.models.cost(model, { ...usage, outputTokens: 0 }),
    tokens: tokens + answerTokens,
    usd: deps.models.cost(model, { ...usage, outputTokens: answerTokens }),
  };
}

function admit(runner: RunningTurn, model: string, admission: Admission): Reservation | null {
  if (!admission.ok) {
    const { scope, unit, limit, spent, needed } = admission.breach;
    runner.emit('budget.exceeded', { scope, unit, limit, spent, ...(needed === undefined ? {} : { needed }) });
    return null;
  }
  if (admission.unpriced.length > 0) warnOnce(runner, { model, scopes: [...admission.unpriced] });
  return admission.reservation;
}

/** Once a session, also across starts: the log remembers. */
function warnOnce(runner: RunningTurn, body: Parameters<typeof runner.emit<'budget.unpriced'>>[1]): void {
  const { deps, place } = runner;
  if (deps.log.reads.slice(place.sessionId, { types: ['budget.unpriced'], limit: 1 }).length > 0) return;
  runner.emit('budget.unpriced', body);
  runner.flush();
}
