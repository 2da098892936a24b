// Passes a request through to a model with the client's own tools, whose calls are returned to the client and never run here. Uses no agent
// and no session. Budgets, redaction, the panic stop and the log apply as for every model call.

import { parseJson } from '../../base/json.ts';
import { stillRedacted } from '../../base/redacted.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import { systemSessionId, type EventBodies } from '../../contracts/events.ts';
import { noUsage, type ChatMessage, type ModelReply, type SafeRequest, type Usage } from '../../contracts/llm.ts';
import { estimateOf } from '../../guard/budget/budget.ts';
import { outputOfJsonSchema, valueIn, type AskingDeps, type Output } from '../../mind/asking/asking.ts';
import type { ModelRouter } from '../../mind/llm/llm.ts';
import type { DoorCaller } from '../../contracts/door-route.ts';
import type { Spine } from '../feature.ts';
import type { Answer, Asked, AnswerWriter, EndReason, Said } from './asked.ts';
import { refuse } from './read-parts.ts';

export interface PassDeps extends Pick<Spine, 'log' | 'ids' | 'panic' | 'closing' | 'later'> {
  readonly asking: AskingDeps;
  readonly models: Pick<ModelRouter, 'knows' | 'stream'>;
}

export interface PassRequest {
  readonly caller: Pick<DoorCaller, 'token' | 'leftUsd' | 'reserve'>;
  /** `provider/model`. */
  readonly ref: string;
  readonly asked: Asked;
  readonly writer: AnswerWriter;
  readonly signal: AbortSignal;
}

/** The assumed size of the answer if the client sets no limit. */
const ANSWER_TOKENS = 4_096;
/** A stream begins with the first piece, so that a refusal of the model server is an HTTP error; and after so long without one. */
const BEGIN_MS = 10_000;

/**
 * Fails with model_unknown, invalid_params, over_budget or panic_engaged before the model is called, and later with the errors of a model
 * call.
 */
export async function passThrough(deps: PassDeps, request: PassRequest): Promise<Answer> {
  const { models, panic } = deps;
  const { ref, asked } = request;
  if (!models.knows(ref)) throw new AppError('model_unknown', `There is no model passthrough/${ref}.`, { data: { param: 'model' } });
  if (asked.previous !== null)
    throw refuse('previous_response_id', 'Nothing is kept of what is passed through: send the whole conversation.');
  if (panic.engaged) throw stopped();
  const output = asked.output.kind === 'schema' ? outputOfJsonSchema(asked.output.schema) : null;
  let hasBegun = false;
  const begin = (): void => {
    if (!hasBegun) request.writer.begin({});
    hasBegun = true;
  };
  const callOff = deps.later(BEGIN_MS, begin);
  try {
    const reply = await ask(deps, request, requestOf(deps, asked, output), begin);
    const text = checked(reply, asked, output);
    begin();
    return { ...reply, text };
  } finally {
    callOff();
  }
}

/** Checks the text against the requested format before any of it is sent. Text that was cut off is sent as it is: its end reason says so. */
function checked({ text, calls, endReason }: Answer, { output: { kind } }: Asked, output: Output<unknown> | null): string {
  if (kind === 'text' || (text === '' && calls.length > 0)) return text;
  if (endReason === 'length' || endReason === 'content_filter') return text;
  if (output === null) {
    if (parseJson(text).ok) return text;
    throw new AppError('model_bad_reply', 'The model did not answer with JSON.');
  }
  const found = valueIn(text, output);
  if (found === undefined) throw new AppError('model_bad_reply', 'The answer of the model does not follow the schema.');
  return JSON.stringify(found.value);
}

function requestOf({ asking }: PassDeps, asked: Asked, output: Output<unknown> | null): SafeRequest {
  const { instructions, said, tools, maxOutputTokens } = asked;
  const form = output?.words ?? (asked.output.kind === 'json' ? 'Answer with one JSON object and nothing else.' : '');
  const system = [instructions, form].filter((text) => text !== '').join('\n\n');
  return {
    system: asking.redact(system),
    tools,
    messages: messagesOf(said).map((message) => stillRedacted(redacted(message, asking))),
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
    ...(output === null ? {} : { output: output.form }),
  };
}

function redacted(message: ChatMessage, { redact }: AskingDeps): ChatMessage {
  if (message.role !== 'assistant') return { ...message, text: redact(message.text) };
  return { ...message, text: redact(message.text), calls: message.calls.map((call) => ({ ...call, args: redact(call.args) })) };
}

/** Checks that every call has a result and every result a call. Servers reject other conversations, and the error should name the place. */
function messagesOf(said: readonly Said[]): ChatMessage[] {
  const open = new Map<string, string>();
  const messages = said.map((one, at): ChatMessage => {
    if (one.role === 'tool') {
      const tool = open.get(one.id);
      if (tool === undefined) throw refuse(`messages[${at}]`, `There is no call ${one.id} before its result, or it has one already.`);
      open.delete(one.id);
      return { role: 'tool', id: one.id, tool, text: one.text, isError: false };
    }
    if (open.size > 0) throw refuse(`messages[${at}]`, `The call ${[...open.keys()].join(', ')} has no result yet.`);
    if (one.role === 'user') return { role: 'user', text: one.text, ...(one.images.length === 0 ? {} : { images: one.images }) };
    for (const { id, tool } of one.calls) open.set(id, tool);
    return one;
  });
  if (open.size > 0) throw refuse('messages', `The call ${[...open.keys()].join(', ')} has no result yet.`);
  return messages;
}

/** Room in the budget first, then the call, then a line in the log, whatever it came to. */
async function ask(
  deps: PassDeps,
  { caller, ref, asked, writer, signal }: PassRequest,
  request: SafeRequest,
  begin: () => void,
): Promise<Answer> {
  const { asking, models, ids } = deps;
  const { clock, budget, count } = asking;
  const place = ids.next('req');
  const inputTokens = sizeOf(request, count);
  const usd = (outputTokens: number): number | null => asking.models.cost(ref, { ...noUsage, inputTokens, outputTokens });
  const room = request.maxOutputTokens ?? ANSWER_TOKENS;
  const estimate = estimateOf(inputTokens, room, usd);
  const limits = { usd: caller.leftUsd(), tokens: null };
  const release = caller.reserve(estimate.usd);
  const stop = AbortSignal.any([signal, deps.closing, deps.panic.signal]);
  const admission = await budget.reserve({ turnId: place, sessionId: place, nowMs: clock.nowMs(), limits }, estimate, stop);
  const from = { door: caller.token.door, client: caller.token.name, messages: asked.said.length };
  const startedMs = clock.monotonicMs();
  let spent: Parameters<Extract<typeof admission, { ok: true }>['reservation']['settle']>[0] = null;
  try {
    if (admission === null) throw new AppError('cancelled', 'The request was stopped while it waited for the budget.');
    if (!admission.ok) throw new AppError('over_budget', `The budget of the ${admission.breach.scope} allows no more model calls.`);
    const streams = asked.stream && asked.output.kind === 'text';
    const say = (delta: string): void => {
      begin();
      writer.text(delta);
    };
    const sink = { text: (delta: string) => (streams ? say(delta) : undefined) };
    const reply = await models.stream(ref, request, sink, { signal: stop });
    const costUsd = asking.models.cost(reply.model ?? ref, reply.usage);
    spent = { nowMs: clock.nowMs(), costUsd, tokens: reply.usage.inputTokens + reply.usage.outputTokens };
    const tookMs = Math.round(clock.monotonicMs() - startedMs);
    record(deps, { ...from, model: reply.model ?? ref, tookMs, costUsd, ...endOf(reply) });
    return { text: reply.text, calls: reply.calls, usage: reply.usage, endReason: reasonOf(reply) };
  } catch (cause) {
    const error = deps.panic.engaged ? stopped() : toAppError(cause);
    const tookMs = Math.round(clock.monotonicMs() - startedMs);
    if (admission?.ok === true) record(deps, { ...from, model: ref, tookMs, ...failed(error) });
    throw error;
  } finally {
    release();
    if (admission?.ok === true) admission.reservation.settle(spent);
  }
}

function stopped(): AppError {
  return new AppError('panic_engaged', 'Everything is stopped by the panic stop.');
}

type Answered = EventBodies['door.answered'];

function endOf(reply: ModelReply): { calls: string[]; finishReason: string; usage: Usage } {
  return { calls: reply.calls.map(({ tool }) => tool), finishReason: reply.finishReason, usage: reply.usage };
}

function failed({ code, message }: AppError): Pick<Answered, 'calls' | 'finishReason' | 'error' | 'usage' | 'costUsd'> {
  return { calls: [], finishReason: 'other', error: `${code}: ${message}`, usage: noUsage, costUsd: null };
}

function record({ log }: PassDeps, body: Answered): void {
  log.append(systemSessionId, [{ type: 'door.answered', body }]);
}

function reasonOf({ finishReason, calls }: ModelReply): EndReason {
  if (calls.length > 0) return 'tool_calls';
  return finishReason === 'length' || finishReason === 'content_filter' ? finishReason : 'stop';
}

function sizeOf({ system, tools, messages }: SafeRequest, count: (text: string) => number): number {
  const said = messages.map(
    (message) => message.text + (message.role === 'assistant' ? message.calls.map(({ args }) => args).join('') : ''),
  );
  return [system, tools.length === 0 ? '' : JSON.stringify(tools), ...said].reduce((sum, text) => sum + count(text), 0);
}
