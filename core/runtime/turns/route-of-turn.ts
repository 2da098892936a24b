// The route of a turn: the model of its next request, and the fallback when one fails. Keeps using one model while it answers, so that the
// cached beginning of the conversation stays useful. Turns with a directly named model never get here.

import type { AppError } from '../../contracts/errors.ts';
import { routeNameOf } from '../../contracts/route-name.ts';
import { ownWords } from '../../mind/context/context.ts';
import type { RouteAsk } from '../../mind/llm/llm.ts';
import type { RoutePort } from './ports.ts';
import type { RunningTurn, TurnRoute } from './running-turn.ts';

/** A server that asks for a longer delay is tried after this one anyway, because the person is waiting. */
const WAIT_MS_MAX = 60_000;
const BACKOFF_START_MS = 500;
const BACKOFF_MS_MAX = 30_000;

export interface Routed {
  readonly model: string | null;
  /** The explanation for the choice, or for the lack of a model. */
  readonly reason: string;
  /** The delay before the model may be asked. */
  readonly waitMs: number;
}

/** Chooses the model of the next request. A candidate on trial counts as asked from now on. */
export function chooseOfRoute(runner: RunningTurn, routes: RoutePort, ref: string): Routed {
  const route = (runner.route ??= {
    model: null,
    note: null,
    tried: new Set(),
    dead: new Set(),
    rounds: 0,
    seen: { count: 0, isPrivate: false },
  });
  const { chosen, reason, passed, waitMs } = routes.choose(ref, askOf(runner, route));
  route.model = chosen;
  route.note = { name: routeNameOf(ref), reason, passed: [...passed] };
  return { model: chosen, reason, waitMs: Math.min(waitMs, WAIT_MS_MAX) };
}

/** After an answer, the next step starts with all candidates except those that cannot answer in this turn. */
export function settleRoute({ route }: RunningTurn): void {
  if (route === null) return;
  route.tried.clear();
  route.rounds = 0;
}

/** The model to ask after this failure, and how long to wait; null if the turn has to handle the failure. */
export function failoverAfter(runner: RunningTurn, model: string, error: AppError): { to: string; waitMs: number } | null {
  const { deps, route, model: ref } = runner;
  const { routes } = deps;
  if (route === null || routes === undefined || ref === null || runner.abort.signal.aborted) return null;
  const excluded = routes.excludedBy(ref, model, error);
  if (excluded === null) return null;
  for (const one of excluded.models) (excluded.forGood ? route.dead : route.tried).add(one);
  const next = routes.preview(ref, askOf(runner, route));
  if (next.chosen !== null) return { to: next.chosen, waitMs: waitOf(next.waitMs) };
  if (error.code === 'model_context_overflow') {
    // No candidate has a larger window, so the same one gets a smaller pack.
    route.tried.clear();
    return null;
  }
  if (route.rounds >= routes.retries) return null;
  route.rounds += 1;
  route.tried.clear();
  const again = routes.preview(ref, askOf(runner, route));
  if (again.chosen === null) return null;
  const backoffMs = Math.min(BACKOFF_MS_MAX, BACKOFF_START_MS * 2 ** (route.rounds - 1));
  return { to: again.chosen, waitMs: waitOf(Math.max(again.waitMs, backoffMs)) };
}

function waitOf(ms: number): number {
  return Math.round(Math.min(ms, WAIT_MS_MAX));
}

function askOf(runner: RunningTurn, { model, tried, dead, seen }: TurnRoute): RouteAsk {
  const { deps, place, transcript, workspace, continues, bounds, helper } = runner;
  const tools = runner.offered();
  const at = { ...place, nowMs: deps.clock.nowMs(), continues };
  return {
    tokens: deps.packer.sizeOf({ transcript, tools, workspace }),
    hasTools: tools.length > 0,
    hasImages: () => transcript.messages.some((message) => 'images' in message && (message.images?.length ?? 0) > 0),
    isPrivate: () => isPrivate(runner, seen),
    usdLeft: () =>
      deps.budget.room?.({
        ...at,
        ...(bounds === null ? {} : { limits: bounds }),
        ...(helper === null ? {} : { payers: helper.payers }),
      }).usd ?? null,
    sticky: model,
    tried: dead.size === 0 ? tried : new Set([...tried, ...dead]),
    seed: place.turnId,
  };
}

const privateSections = ['project', 'memory', 'knowledge'] as const;

/**
 * Returns whether the conversation has contained data that only this computer or its owner knows. Once true, it stays true for the turn.
 */
function isPrivate({ chosen, deps, transcript }: RunningTurn, seen: TurnRoute['seen']): boolean {
  if (privateSections.some((section) => (chosen?.parts.parts[section]?.length ?? 0) > 0)) return true;
  const { messages } = transcript;
  // Messages were removed from the conversation, so the remaining ones are checked again.
  if (messages.length < seen.count) seen.count = 0;
  for (; !seen.isPrivate && seen.count < messages.length; seen.count++) {
    const message = messages[seen.count];
    if (message?.role === 'tool') seen.isPrivate = deps.tools.get(message.tool)?.class !== 'network';
    if (message?.role === 'user') seen.isPrivate = (message.images?.length ?? 0) > 0 || ownWords(message.text) !== message.text;
  }
  return seen.isPrivate;
}
