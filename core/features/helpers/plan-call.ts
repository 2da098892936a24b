// Plans a subagent call: the agent, its bounds, the turns that pay, and the deadline. Reads only the log; refuses calls beyond the limits.

import type { HelperLimits } from '../../contracts/agents.ts';
import { AppError } from '../../contracts/errors.ts';
import type { EventBodies } from '../../contracts/events.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import { narrow, type TurnBounds, wholeBounds, withoutPlan } from '../../contracts/turn-bounds.ts';
import type { TurnPort } from '../../runtime/turns/turns.ts';
import type { Spine } from '../feature.ts';
import type { HelperRows } from './rows.ts';

export interface WantedHelp {
  readonly task: string;
  readonly label?: string | undefined;
  /** Defaults to the caller's agent. */
  readonly agentId?: string | undefined;
  readonly mode: 'wait' | 'background';
  /** Overrides the agent's model. The agent is then the caller's. */
  readonly model?: string | undefined;
}

export type CallPlace = EventBodies['a2a.called']['from'];

const LABEL_MAX = 60;
/** How many turn starts are searched for the calling turn. The other starts in its session are parallel direct calls. */
const STARTS_MAX = 200;

/** Fails with not_found or denied. */
export function planCall(deps: HelperDeps, from: CallPlace, wanted: WantedHelp): EventBodies['a2a.called'] {
  const { agents, limits, rows, clock, ids } = deps;
  const caller = startOf(deps, from);
  const agentId = wanted.agentId ?? caller.agentId;
  if (wanted.model === undefined) assertMayCall(deps, caller.agentId, agentId);
  const level = rows.byHelperTurn(from.turnId)?.depth ?? 0;
  const depthLeft = Math.min(limits.depth - level, caller.bounds?.depth ?? limits.depth);
  if (depthLeft <= 0) {
    const hint = 'Do the work yourself.';
    throw new AppError('denied', 'No subagent may be called from here: the levels of subagents are used up.', { hint });
  }
  return {
    jobId: ids.next('job'),
    from,
    agentId,
    task: wanted.task,
    label: labelOf(wanted),
    ...(wanted.model === undefined ? {} : { model: wanted.model }),
    mode: wanted.mode,
    bounds: boundsOf(heldNow(deps, from, caller), agents.boundsOf(agentId), limits, depthLeft - 1),
    payers: payersOf(from, caller),
    depth: level + 1,
    idempotencyKey: from.callId,
    deadlineMs: clock.nowMs() + Math.round(limits.minutes * 60_000),
  };
}

function assertMayCall({ agents }: HelperDeps, caller: string, agentId: string): void {
  agents.assertKnown(agentId);
  const allowed = agents.helpersOf(caller);
  if (allowed.includes(agentId)) return;
  throw new AppError('denied', `The agent ${caller} may not call ${agentId}.`, {
    hint: `It may call: ${allowed.join(', ') || 'no other agent'}.`,
  });
}

/** The turns that pay for the call, nearest first. */
function payersOf(
  { turnId, sessionId }: CallPlace,
  { bounds, continues, helper }: EventBodies['turn.started'],
): EventBodies['a2a.called']['payers'] {
  const { usd = null, tokens = null } = bounds ?? {};
  return [{ turnId, sessionId, continues: continues?.turnIds ?? [], usd, tokens }, ...(helper?.payers ?? [])];
}

export function startOf({ log }: Pick<HelperDeps, 'log'>, { sessionId, turnId }: CallPlace): EventBodies['turn.started'] {
  const starts = log.reads.slice(sessionId, { types: ['turn.started'], limit: STARTS_MAX, newest: true });
  const start = starts.findLast((event) => event.turnId === turnId);
  if (start?.type !== 'turn.started') throw new AppError('not_found', `There is no turn ${turnId} that could call a subagent.`);
  return start.body;
}

/**
 * The bounds of the calling turn. If its plan was approved in this turn, the plan no longer restricts its subagents. A subagent's own calls
 * keep the restriction.
 */
function heldNow({ log }: HelperDeps, { sessionId }: CallPlace, { bounds, helper }: EventBodies['turn.started']): TurnBounds | undefined {
  const isHeld = helper !== undefined || (log.index.session(sessionId)?.planFirst ?? null) !== null;
  return isHeld || bounds === undefined ? bounds : withoutPlan(bounds);
}

/** The bounds of the subagent: never wider than the caller's, the agent's, or the limits on subagents. */
function boundsOf(caller: TurnBounds | undefined, agent: TurnBounds | null, limits: HelperLimits, depth: number): TurnBounds {
  const { usd = null, tokens = null, minutes } = limits;
  const limit = { ...wholeBounds, usd, tokens, turnMs: Math.max(1, Math.round(minutes * 60_000)), depth };
  return narrow(narrow(caller ?? wholeBounds, agent ?? wholeBounds), limit);
}

function labelOf({ label, task }: WantedHelp): string {
  const text = (label ?? task).trim().replaceAll(/\s+/g, ' ');
  return text.length > LABEL_MAX ? `${text.slice(0, LABEL_MAX - 1).trimEnd()}…` : text;
}

/**
 * Runs subagents as turns of this program. Another transport implements the same four methods: submit a task once by its key, cancel it,
 * retry it, and append to the log.
 */
type HelperTurns = Pick<TurnPort, 'submit' | 'cancel' | 'retry' | 'appendToTurn'>;

export interface HelperDeps extends Pick<Spine, 'log' | 'clock' | 'ids' | 'logger' | 'later'> {
  readonly rows: HelperRows;
  readonly limits: HelperLimits;
  readonly panic: { readonly engaged: boolean };
  readonly turns: HelperTurns;
  readonly agents: {
    assertKnown(agentId: string): void;
    boundsOf(agentId: string): TurnBounds | null;
    helpersOf(agentId: string): readonly string[];
  };
  sourcesOf(sessionId: string): readonly TaintSource[];
  /** The model through which another transport runs a call of this agent; null for the local queue. */
  readonly carrierOf: (agentId: string) => string | null;
  /** The instructions that are appended to a subagent's task. */
  instructions(): string;
  readonly crashPoints: { reach(point: 'helper-called' | 'helper-submitted' | 'helper-finished'): void };
}
