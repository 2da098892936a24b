// The operations on the budget: its limits and amounts, and a person's approval of more.

import { AppError, noSession, noTurn } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { Caller, OpHandlers, OpParsed, OpResult } from '../../contracts/ops.ts';
import type { BudgetPlace, More } from '../../guard/budget/budget.ts';
import type { OpsParts } from './parts.ts';

type Deps = Pick<OpsParts, 'budget' | 'clock' | 'log'>;

export function createBudgetOps(deps: Deps) {
  return {
    'budget.get': (params) => readStates(deps, params),
    'budget.allow': (params, caller) => allowMore(deps, params, caller),
  } satisfies Partial<OpHandlers>;
}

function readStates(deps: Deps, named: { turnId?: string | undefined; sessionId?: string | undefined }): OpResult<'budget.get'> {
  const nowMs = deps.clock.nowMs();
  const turn = named.turnId === undefined ? undefined : placeOfTurn(deps, named.turnId);
  const sessionId = named.sessionId ?? turn?.sessionId;
  if (named.sessionId !== undefined) assertSession(deps, named.sessionId);
  return {
    budgets: deps.budget.states({ nowMs, ...(turn === undefined ? {} : { turn }), ...(sessionId === undefined ? {} : { sessionId }) }),
  };
}

/** Logs the extension before it takes effect. Fails with conflict if there is no such limit. */
function allowMore(deps: Deps, params: OpParsed<'budget.allow'>, caller: Caller): OpResult<'budget.allow'> {
  const { scope, turnId } = params;
  const place = placeOf(deps, params);
  const amounts: readonly More[] = [
    ...(params.usd === undefined ? [] : [{ scope, unit: 'usd', amount: params.usd } as const]),
    ...(params.tokens === undefined ? [] : [{ scope, unit: 'tokens', amount: params.tokens } as const]),
  ];
  if (amounts.length === 0) throw new AppError('invalid_params', 'Say how much more: usd, tokens or both.');
  const planned = amounts.map((more) => ({ ...planMore(deps, place, more), amount: more.amount, by: caller.actor }));
  deps.log.append(
    systemSessionId,
    planned.map((body) => ({ type: 'budget.extended', body })),
    true,
  );
  for (const extension of planned) deps.budget.extend(extension);
  return readStates(deps, scope === 'day' ? {} : { ...(scope === 'turn' ? { turnId } : {}), sessionId: place.sessionId });
}

function planMore(deps: Deps, place: BudgetPlace, more: More): NonNullable<ReturnType<OpsParts['budget']['planMore']>> {
  const planned = deps.budget.planMore(place, more);
  if (planned !== null) return planned;
  const unit = more.unit === 'usd' ? 'US dollars' : 'tokens';
  throw new AppError('conflict', `There is no limit in ${unit} for a ${more.scope}, so nothing needs to be allowed.`);
}

function placeOf(deps: Deps, { scope, turnId, sessionId }: OpParsed<'budget.allow'>): BudgetPlace {
  const nowMs = deps.clock.nowMs();
  if (scope === 'day') return { turnId: '', sessionId: '', nowMs };
  if (turnId !== undefined) return placeOfTurn(deps, turnId);
  if (scope === 'turn' || sessionId === undefined) {
    throw new AppError('invalid_params', scope === 'turn' ? 'Name the turn: turnId.' : 'Name the session: sessionId.');
  }
  assertSession(deps, sessionId);
  return { turnId: '', sessionId, nowMs };
}

function placeOfTurn(deps: Deps, turnId: string): BudgetPlace {
  const row = deps.log.index.turn(turnId);
  if (row === null) throw noTurn(turnId);
  const started = deps.log.reads.turn(row.sessionId, turnId, row.firstSeq).find((event) => event.type === 'turn.started');
  const { continues, bounds, helper } = started?.body ?? {};
  const place = { turnId, sessionId: row.sessionId, nowMs: deps.clock.nowMs(), continues: continues?.turnIds ?? [] };
  return { ...place, ...(bounds === undefined ? {} : { limits: bounds }), ...(helper === undefined ? {} : { payers: helper.payers }) };
}

function assertSession(deps: Deps, sessionId: string): void {
  if (deps.log.index.session(sessionId) === null) throw noSession(sessionId);
}
