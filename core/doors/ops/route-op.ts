// `model.route`: which model would get a message and why, from what is known now. Contacts no model or server, and changes nothing.

import { AppError } from '../../contracts/errors.ts';
import type { Caller, OpParsed, OpResult } from '../../contracts/ops.ts';
import { withinToolLimit } from '../../mind/context/context.ts';
import { estimateTokens } from '../../mind/llm/llm.ts';
import { offeredWithin } from '../../runtime/turns/turns.ts';
import type { OpsParts } from './parts.ts';

type Deps = Pick<OpsParts, 'agents' | 'budget' | 'clock' | 'gate' | 'log' | 'models' | 'packer' | 'tools'>;

/**
 * The model or route of a message: the wanted one, or the agent's, or the default. Fails with `no_model`, or with `model_unknown` for an unknown
 * model or route.
 */
export function modelRefFor(
  { agents, models }: Pick<Deps, 'agents' | 'models'>,
  wanted: string | null | undefined,
  agentId: string,
): string {
  const choice = models.defaultChoice();
  const ref = wanted ?? agents.modelOf(agentId) ?? choice.ref;
  if (ref === null) {
    const { message = 'No model can be used.', hint = 'Set one up: trayclaw setup' } = choice.problem ?? {};
    throw new AppError('no_model', message, { hint });
  }
  models.assertKnown(ref);
  return ref;
}

/**
 * Treats the message as the first one of a new session with the main agent. Fails with `no_model`, or with `model_unknown` for an unknown
 * model or route.
 */
export function explainRoute(deps: Deps, { text, model }: OpParsed<'model.route'>, caller: Caller): OpResult<'model.route'> {
  const ref = modelRefFor(deps, model, 'main');
  const bounds = deps.agents.boundsOf('main');
  const offered = offeredWithin(deps, deps.tools.schemas(), { bounds, origin: { channel: caller.channel, agentId: 'main' } });
  const tools = withinToolLimit(offered, []);
  const transcript = deps.packer.createTranscript();
  const tokens = deps.packer.sizeOf({ transcript, tools, workspace: null }) + estimateTokens(text);
  const explained = deps.models.routes.explain(ref, {
    tokens,
    hasTools: tools.length > 0,
    hasImages: () => false,
    isPrivate: () => false,
    usdLeft: () => deps.budget.room({ turnId: '', sessionId: '', nowMs: deps.clock.nowMs() }).usd,
    sticky: null,
    tried: new Set(),
    seed: text,
  });
  const { candidates, details, chosen, reason } = explained;
  return {
    ref,
    tokens,
    candidates: candidates.map((candidate, index) => ({ ...candidate, ...(details[index] ?? noDetails) })),
    chosen,
    reason,
  };
}

const noDetails = { latencyMs: null, coolingMs: 0, problem: null };
