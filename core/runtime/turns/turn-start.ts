// Builds the first event of a turn: its agent, its model and its limits. Starts nothing.

import { AppError } from '../../contracts/errors.ts';
import type { AnyDraft, AnyEvent, TurnLimits } from '../../contracts/events.ts';
import type { RequestedCall } from '../../contracts/llm.ts';
import { narrow, type PlanMode, type TurnBounds, wholeBounds } from '../../contracts/turn-bounds.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { openingCalls } from './call-facts.ts';
import { type DirectCall, markForeign, type StartAbout } from './inbound.ts';
import type { TurnDeps } from './ports.ts';
import type { TurnPlace } from './running-turn.ts';

export function startedChat(
  deps: TurnDeps,
  { turnId, sessionId, agentId }: TurnPlace & { readonly agentId: string },
  about: StartAbout = {},
): AnyDraft {
  const { model: wanted, workspace: begun, begins, ...more } = about;
  const session = begins === true ? null : deps.log.index.session(sessionId);
  const workspace = begun ?? session?.workspace ?? null;
  const model = wanted ?? session?.model ?? deps.agents.modelOf(agentId) ?? deps.models.defaultRef();
  const bounds = planning(boundsWithin(deps.agents.boundsOf(agentId), about.bounds), session?.planFirst ?? null);
  const limits = limitsWithin(deps.limits, bounds);
  return {
    type: 'turn.started',
    turnId,
    phase: 'interpret',
    body: {
      kind: 'chat',
      agentId,
      model,
      limits,
      calls: openingCalls(deps, workspace),
      ...more,
      ...(bounds === undefined ? {} : { bounds }),
      ...(workspace === null ? {} : { workspace }),
    },
  };
}

function startedDirect(
  deps: TurnDeps,
  turnId: string,
  { agentId, channel, workspace = null, bounds }: DirectCall,
  call: RequestedCall,
): AnyDraft {
  const body = {
    kind: 'tool' as const,
    agentId,
    model: null,
    limits: limitsWithin(deps.limits),
    calls: [call],
    channel,
    ...(bounds === undefined ? {} : { bounds }),
    ...(workspace === null ? {} : { workspace }),
  };
  return { type: 'turn.started', turnId, phase: 'interpret', body };
}

function boundsWithin(agent: TurnBounds | null, given: TurnBounds | undefined): TurnBounds | undefined {
  return agent === null ? given : narrow(agent, given ?? wholeBounds);
}

function planning(bounds: TurnBounds | undefined, mode: PlanMode | null): TurnBounds | undefined {
  return mode === null ? bounds : narrow(bounds ?? wholeBounds, { ...wholeBounds, planFirst: mode });
}

/** A bound can only lower a limit. */
function limitsWithin({ steps, turnMs, sameCall, parallelReads }: TurnLimits, bounds?: TurnBounds): TurnLimits {
  return { steps: Math.min(steps, bounds?.steps ?? steps), turnMs: Math.min(turnMs, bounds?.turnMs ?? turnMs), sameCall, parallelReads };
}

// Records the beginning of a call that a person makes directly. Runs nothing.

interface Begun {
  readonly turnId: string;
  readonly callId: string;
  /** The first events of its turn. */
  readonly events: readonly AnyEvent[];
}

/** Commits the call before it returns. Fails with `denied` in a folder that is not trusted. */
export function recordDirect(deps: TurnDeps, call: DirectCall): Begun {
  const { log, ids, workspaces } = deps;
  workspaces.contextOf(call.workspace ?? null);
  const turnId = ids.next('trn');
  const callId = ids.next('call');
  const { text: args, found } = deps.redactJson(call.args);
  const withheld = found.length === 0 ? {} : { withheld: [...found] };
  const requested: RequestedCall = { callId, providerCallId: callId, tool: call.tool, args, ...withheld };
  const start = startedDirect(deps, turnId, call, requested);
  const events = log.transact(() => {
    if (call.dedupeKey !== undefined) log.index.putInbound(call.channel, call.dedupeKey, call.sessionId, turnId);
    return log.append(call.sessionId, [...call.before, ...markForeign(turnId, call), start], true);
  }, true);
  return { turnId, callId, events: events.filter((event) => event.turnId === turnId) };
}

/** The call of a direct turn that began earlier. */
export function directCallOf(log: SessionLog, { sessionId, turnId }: { readonly sessionId: string; readonly turnId: string }): string {
  const firstSeq = log.index.turn(turnId)?.firstSeq ?? 0;
  for (const event of log.reads.turn(sessionId, turnId, firstSeq)) {
    const call = event.type === 'turn.started' ? event.body.calls[0] : undefined;
    if (call !== undefined) return call.callId;
  }
  throw new AppError('internal', `The turn ${turnId} has no call.`);
}
