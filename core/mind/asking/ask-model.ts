// Asks a model one question outside the conversation of a turn: reserves budget, sends the request, settles the cost. Never retries, and
// never becomes part of a transcript.

import type { Clock, Later } from '../../base/clock.ts';
import { stillRedacted, type Redacted } from '../../base/redacted.ts';
import { AppError } from '../../contracts/errors.ts';
import type {
  ChatMessage,
  DeltaSink,
  FinishReason,
  ModelReply,
  ModelRequest,
  OutputForm,
  SafeRequest,
  Usage,
} from '../../contracts/llm.ts';
import type { Spending } from '../../contracts/spending.ts';
import { estimateOf, type Admission, type BudgetPlace, type CallEstimate } from '../../guard/budget/budget.ts';

export interface AskingDeps {
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly later: Later;
  readonly budget: {
    reserve(at: BudgetPlace, estimate: CallEstimate, signal: AbortSignal): Admission | Promise<Admission | null>;
  };
  readonly models: {
    cost(ref: string, usage: Usage): number | null;
    /** If `ref` is a route, the reply names the model that answered. */
    stream(
      ref: string,
      request: SafeRequest,
      sink: DeltaSink,
      options: { signal: AbortSignal },
    ): Promise<ModelReply & { readonly model?: string }>;
  };
  readonly count: (text: string) => number;
  /** Redacts the question before it leaves the program. */
  readonly redact: (text: string) => Redacted;
}

export interface ModelQuestion {
  readonly model: string;
  readonly place: Omit<BudgetPlace, 'nowMs'>;
  readonly system: string;
  readonly text: string;
  readonly maxOutputTokens: number;
  readonly timeoutMs: number;
  readonly output?: OutputForm;
  /** A previous answer to the same question, and a note about it for the model. */
  readonly again?: { readonly answer: string; readonly note: string };
}

export interface Spent extends Spending {
  readonly tookMs: number;
}

export type ModelAnswer =
  | (Spent & { readonly text: string; readonly finishReason: FinishReason })
  /** The model was not asked; the reason. */
  | { readonly refused: string };

const noTools: ModelRequest['tools'] = [];

/** Fails as `stream` does: `model_*`, or `cancelled` once the signal aborts. */
export async function askModel(deps: AskingDeps, question: ModelQuestion, signal: AbortSignal): Promise<ModelAnswer> {
  const { model, place, system, maxOutputTokens, timeoutMs, output } = question;
  const said = saidIn(question);
  const inputTokens = said.reduce((sum, { text }) => sum + deps.count(text), deps.count(system));
  const usd = (outputTokens: number): number | null => deps.models.cost(model, { inputTokens, outputTokens, cachedInputTokens: 0 });
  const estimate = estimateOf(inputTokens, maxOutputTokens, usd);
  const admission = await deps.budget.reserve({ ...place, nowMs: deps.clock.nowMs() }, estimate, signal);
  if (admission === null) return { refused: 'it was stopped while it waited for the budget' };
  if (!admission.ok) return { refused: `the budget of the ${admission.breach.scope} allows no more model calls` };
  const late = new AbortController();
  const callOff = deps.later(timeoutMs, () => late.abort(new AppError('model_timeout', `${model} took longer than ${timeoutMs} ms.`)));
  const startedMs = deps.clock.monotonicMs();
  let spent: Parameters<typeof admission.reservation.settle>[0] = null;
  try {
    if (signal.aborted) throw new AppError('cancelled', 'It was stopped before the model was asked.');
    const messages = said.map((message) => stillRedacted({ ...message, text: deps.redact(message.text) }));
    const request = { system: deps.redact(system), tools: noTools, messages, maxOutputTokens, ...(output === undefined ? {} : { output }) };
    const reply = await deps.models.stream(model, request, { text: () => undefined }, { signal: AbortSignal.any([signal, late.signal]) });
    const costUsd = deps.models.cost(reply.model ?? model, reply.usage);
    spent = { nowMs: deps.clock.nowMs(), costUsd, tokens: reply.usage.inputTokens + reply.usage.outputTokens };
    const { text, usage, finishReason } = reply;
    return { text, finishReason, usage, costUsd, tookMs: Math.round(deps.clock.monotonicMs() - startedMs) };
  } finally {
    callOff();
    admission.reservation.settle(spent);
  }
}

function saidIn({ text, again }: ModelQuestion): ChatMessage[] {
  const asked = { role: 'user' as const, text };
  if (again === undefined) return [asked];
  const answered = again.answer === '' ? [] : [{ role: 'assistant' as const, text: again.answer, calls: [] }];
  return [asked, ...answered, { role: 'note', text: again.note }];
}
