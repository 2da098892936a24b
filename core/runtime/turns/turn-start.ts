// Builds the first event of a turn: its agent, its model and its limits. Starts nothing.

import type { AnyDraft, TurnLimits } from '../../contracts/events.ts';
import type { RequestedCall } from '../../contracts/llm.ts';
import { narrow, wholeBounds, type PlanMode, type TurnBounds } from '../../contracts/turn-bounds.ts';
import { openingCalls } from './call-facts.ts';
import type { DirectCall, StartAbout } from './inbound.ts';
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

export function startedDirect(
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
