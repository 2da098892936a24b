// Second opinions: on request, for agents configured to have them, and when the governor asks for one. Turns without a second opinion pay
// nothing for this feature.

import { mainAgentId } from '../../contracts/agents.ts';
import type { Config } from '../../contracts/config.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { OpinionDesk } from './opinion-desk.ts';

export { wordDisagreement } from './judgement.ts';

type Taken = Pick<
  Spine,
  'config' | 'clock' | 'ids' | 'logger' | 'log' | 'panic' | 'turns' | 'closing' | 'redactPrompt' | 'asking' | 'models'
>;

export const opinions = defineBuiltInFeature({
  name: 'opinions',
  create: (spine: Taken) => {
    const { config, log, logger } = spine;
    const desk = new OpinionDesk({ ...spine, panels: config.models.panels, random: Math.random });
    const heard = (events: readonly AnyEvent[]): void => {
      for (const event of events) {
        if (event.type === 'turn.finished' && event.body.status === 'done' && event.turnId !== null) consider(event.turnId);
      }
    };
    const consider = (turnId: string): void => {
      const wanted = wantedFor(desk.eventsOf(turnId), config);
      if (wanted === null) return;
      desk.ask({ turnId, ...wanted }).catch((cause: unknown) => {
        logger.log('warn', 'a second opinion could not be had', { turnId, reason: String(cause) });
      });
    };
    const isAutomatic = config.governor.mode === 'on' || Object.values(config.agents).some((agent) => agent.secondOpinion !== undefined);
    let stopHearing = (): void => undefined;
    return {
      handlers: createOpinionOps(desk),
      begin: () => {
        if (isAutomatic) stopHearing = log.onCommitted(heard);
      },
      dispose: async () => {
        stopHearing();
        await desk.dispose();
      },
    };
  },
});

/** Operations on second opinions: request one, and list those of a turn. */
function createOpinionOps(desk: Pick<OpinionDesk, 'ask' | 'list'>) {
  return {
    'model.opinion': ({ turnId, panel }, { actor, gone }) => desk.ask({ turnId, of: panel ?? null, by: actor, signal: gone }),
    'opinion.list': ({ turnId }) => ({ opinions: desk.list(turnId) }),
  } satisfies Partial<OpHandlers>;
}

// Decides whether a turn that has just ended gets a second opinion, and from whom: by the settings of its agent, or by the governor. Pure.

interface Wanted {
  /** A panel or a model. Null lets `choosePanel` decide. */
  readonly of: string | null;
  readonly by: string;
}

export function wantedFor(events: readonly AnyEvent[], { agents }: Pick<Config, 'agents'>): Wanted | null {
  let agentId = mainAgentId;
  let isChat = false;
  let isAdvised = false;
  for (const event of events) {
    if (event.type === 'opinion.requested') return null;
    if (event.type === 'turn.started') {
      agentId = event.body.agentId;
      isChat = event.body.kind === 'chat';
    }
    if (event.type === 'governor.assessed' && event.body.applied.includes('second_opinion')) isAdvised = true;
  }
  if (!isChat) return null;
  const of = agents[agentId]?.secondOpinion;
  if (of !== undefined) return { of, by: `agent ${agentId}` };
  return isAdvised ? { of: null, by: 'governor' } : null;
}
