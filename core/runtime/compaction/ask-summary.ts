// Asks a model for one summary: reserves budget, sends the request, records its usage. The demo writes no summaries; it is not a model.

import type { Clock } from '../../base/clock.ts';
import type { Later } from '../../base/later.ts';
import { stillRedacted, type Redacted } from '../../base/redacted.ts';
import { AppError } from '../../contracts/errors.ts';
import type { DeltaSink, ModelReply, ModelRequest, SafeRequest, Usage } from '../../contracts/llm.ts';
import type { Admission, BudgetPlace, CallEstimate } from '../../guard/budget/budget.ts';
import type { AskModel } from '../../mind/compress/compress.ts';

export interface AskSummaryDeps {
  readonly clock: Clock;
  readonly later: Later;
  readonly budget: {
    reserve(at: BudgetPlace, estimate: CallEstimate, signal: AbortSignal): Admission | Promise<Admission | null>;
  };
  readonly models: {
    cost(ref: string, usage: Usage): number | null;
    stream(ref: string, request: SafeRequest, sink: DeltaSink, options: { signal: AbortSignal }): Promise<ModelReply>;
  };
  count(text: string): number;
  /** The request leaves the program here. */
  redact(text: string): Redacted;
}

export interface SummaryPlace {
  readonly model: string;
  readonly sessionId: string;
  /** Used in place of a turn id: the cost of one summary counts as one unit of work. */
  readonly summaryId: string;
}

const noTools: ModelRequest['tools'] = [];
const demoPrefix = 'demo/';
/** A model that takes longer is left alone, and the summary put together by rule. */
const ANSWER_MS = 90_000;

export function createAskSummary(deps: AskSummaryDeps, { model, sessionId, summaryId }: SummaryPlace): AskModel {
  return async ({ system, text, maxOutputTokens }, signal) => {
    if (model.startsWith(demoPrefix)) return { refused: 'the demo writes no summaries' };
    const inputTokens = deps.count(system) + deps.count(text);
    const usd = (outputTokens: number): number | null => deps.models.cost(model, { inputTokens, outputTokens, cachedInputTokens: 0 });
    const estimate = { inputTokens, inputUsd: usd(0), tokens: inputTokens + maxOutputTokens, usd: usd(maxOutputTokens) };
    const place = { turnId: summaryId, sessionId, nowMs: deps.clock.nowMs() };
    const admission = await deps.budget.reserve(place, estimate, signal);
    if (admission === null) return { refused: 'it was stopped while it waited for the budget' };
    if (!admission.ok) return { refused: `the budget of the ${admission.breach.scope} allows no more model calls` };
    const late = new AbortController();
    const callOff = deps.later(ANSWER_MS, () => late.abort(new AppError('model_timeout', `${model} took too long to sum up.`)));
    let spent: Parameters<typeof admission.reservation.settle>[0] = null;
    try {
      if (signal.aborted) throw new AppError('cancelled', 'It was stopped before the model was asked.');
      const messages = [stillRedacted({ role: 'user' as const, text: deps.redact(text) })];
      const request = { system: deps.redact(system), tools: noTools, messages, maxOutputTokens };
      const reply = await deps.models.stream(model, request, { text: () => undefined }, { signal: AbortSignal.any([signal, late.signal]) });
      const costUsd = deps.models.cost(model, reply.usage);
      spent = { nowMs: deps.clock.nowMs(), costUsd, tokens: reply.usage.inputTokens + reply.usage.outputTokens };
      return { text: reply.text, usage: reply.usage, costUsd };
    } finally {
      callOff();
      admission.reservation.settle(spent);
    }
  };
}
