// Decides whether a turn that has just ended gets a second opinion, and from whom: by the settings of its agent, or by the governor. Pure.

import { mainAgentId } from '../../contracts/agents.ts';
import type { Config } from '../../contracts/config.ts';
import type { AnyEvent } from '../../contracts/events.ts';

export interface Wanted {
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
