// A minimal live call of a model with the tools of the main agent's turns. Checks key, name and address, and whether the server accepts the
// tools. Counts towards usage like every call; not a turn.

import { AppError, toAppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft } from '../../contracts/events.ts';
import { noUsage } from '../../contracts/llm.ts';
import type { ServedCaller, OpParsed, OpResult } from '../../contracts/ops.ts';
import { withinToolLimit } from '../../mind/context/context.ts';
import { estimateTokens, probeTokensMax } from '../../mind/llm/llm.ts';
import { estimateOf, type Reservation } from '../../guard/budget/budget.ts';
import { offeredWithin } from '../../runtime/turns/turns.ts';
import type { OpsParts } from './parts.ts';

type Deps = Pick<OpsParts, 'agents' | 'budget' | 'clock' | 'closing' | 'gate' | 'ids' | 'log' | 'models' | 'panic' | 'safety' | 'tools'>;

const TEST_MAX_MS = 20_000;

export type TestedModel = OpParsed<'model.test'> & { readonly key?: string | undefined };

/** Fails with panic_engaged or over_budget before the model is asked. */
export async function testModel(deps: Deps, params: TestedModel, caller: ServedCaller): Promise<OpResult<'model.test'>> {
  const { model, provider, key } = params;
  const offered = offeredWithin(deps, deps.tools.schemas(), {
    bounds: deps.agents.boundsOf('main'),
    origin: { channel: caller.channel, agentId: 'main' },
  });
  const tools = withinToolLimit(offered, []);
  const told = tools.length === offered.length ? {} : { toolsLeftOut: offered.length - tools.length };
  const requestId = deps.ids.next('req');
  const signal = AbortSignal.any([caller.gone, deps.panic.signal, AbortSignal.timeout(TEST_MAX_MS)]);
  const reservation = await reserve(deps, { model, requestId, sent: JSON.stringify(tools), signal });
  let spent: Parameters<Reservation['settle']>[0] = null;
  const record = (draft: AnyDraft): void => void deps.log.append(systemSessionId, [draft]);
  record({ type: 'model.requested', body: { requestId, packId: 'test', model } });
  const startedMs = deps.clock.monotonicMs();
  const tookMs = (): number => Math.round(deps.clock.monotonicMs() - startedMs);
  try {
    const { reply, costUsd } = await probe(deps, model, { provider, key, tools, signal, timeoutMs: TEST_MAX_MS });
    spent = { nowMs: deps.clock.nowMs(), costUsd, tokens: reply.usage.inputTokens + reply.usage.outputTokens };
    const { usage, usageReported, finishReason, firstTokenMs } = reply;
    const said = { text: deps.safety.redact(reply.text).text, reasoning: '', calls: [] };
    record({
      type: 'model.finished',
      body: { requestId, ...said, usage, usageReported, costUsd, finishReason, tookMs: tookMs(), firstTokenMs },
    });
    return { ok: true, model, tookMs: tookMs(), firstTokenMs, usage, costUsd, error: null, ...told };
  } catch (cause) {
    const error = toAppError(cause).toBody();
    record({ type: 'model.failed', body: { requestId, error, partialText: '', tookMs: tookMs() } });
    return { ok: false, model, tookMs: tookMs(), firstTokenMs: null, usage: noUsage, costUsd: null, error, ...told };
  } finally {
    reservation.settle(spent);
  }
}

interface Asked {
  readonly model: string;
  readonly requestId: string;
  readonly sent: string;
  readonly signal: AbortSignal;
}

async function reserve({ budget, clock, models, panic }: Deps, { model, requestId, sent, signal }: Asked): Promise<Reservation> {
  if (panic.engaged) throw new AppError('panic_engaged', 'No model is asked while everything is stopped.');
  const inputTokens = estimateTokens(sent);
  const usd = (outputTokens: number): number | null => models.cost(model, { ...noUsage, inputTokens, outputTokens });
  const estimate = estimateOf(inputTokens, probeTokensMax, usd);
  const admission = await budget.reserve({ turnId: requestId, sessionId: requestId, nowMs: clock.nowMs() }, estimate, signal);
  if (admission === null) throw new AppError('cancelled', 'The test was stopped while it waited for the budget.');
  if (!admission.ok) throw new AppError('over_budget', `The budget of the ${admission.breach.scope} allows no more model calls.`);
  return admission.reservation;
}

type Probe = OpsParts['models']['probe'];

/** Retries without the tools if they do not fit into the model's window, as a turn leaves out tools that do not fit. */
async function probe({ models }: Deps, model: string, how: Parameters<Probe>[1]): ReturnType<Probe> {
  try {
    return await models.probe(model, how);
  } catch (cause) {
    if (toAppError(cause).code !== 'model_context_overflow') throw cause;
    return models.probe(model, { ...how, tools: [] });
  }
}
