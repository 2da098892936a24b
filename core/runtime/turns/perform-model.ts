// Performs `pack` and `complete`: builds the request, asks the model within the budget, and records the answer or the failure.

import { GrowingText } from '../../base/growing-text.ts';
import { toAppError, type AppError, type ErrorBody } from '../../contracts/errors.ts';
import type { Intent } from '../../agent/brain/brain.ts';
import type { DeltaSink, ModelReply } from '../../contracts/llm.ts';
import type { Reservation } from '../../guard/budget/budget.ts';
import { askBudget } from './ask-budget.ts';
import { choosePackParts, markForeignParts, openApprovals } from './pack-parts.ts';
import { hookModel, hookRun, tellHooks } from './hooks-of-turn.ts';
import { LiveText } from './live-text.ts';
import type { TurnDeps } from './ports.ts';
import type { RunningTurn, ShownPack, Step } from './running-turn.ts';

export function performPack(runner: RunningTurn, intent: Extract<Intent, { kind: 'pack' }>): Step | Promise<Step> {
  const hooked = runner.state.modelCalls === 0 ? hookRun(runner) : null;
  return hooked === null
    ? buildPack(runner, intent)
    : hooked.then(
        (error) => unlessRefused(runner, error, () => buildPack(runner, intent)),
        () => cutOff(runner),
      );
}

/** A hook that was cut off with its turn has said nothing. */
function cutOff(runner: RunningTurn): Step {
  return runner.halted ? 'halt' : 'next';
}

function unlessRefused<T extends Step | Promise<Step>>(runner: RunningTurn, error: ErrorBody | null, goOn: () => T): T | Step {
  if (runner.halted) return 'halt';
  if (error === null) return goOn();
  runner.emit('model.failed', { requestId: runner.deps.ids.next('req'), error, partialText: '', tookMs: 0 });
  return 'next';
}

function buildPack(runner: RunningTurn, intent: Extract<Intent, { kind: 'pack' }>): Step | Promise<Step> {
  const { model, deps } = runner;
  if (model === null) {
    runner.emit('model.failed', noModel(runner));
    return 'next';
  }
  const asking = deps.models.askWindow?.(model, runner.abort.signal) ?? null;
  return asking === null ? choosePack(runner, intent, model) : asking.then(() => choosePack(runner, intent, model));
}

function choosePack(runner: RunningTurn, intent: Extract<Intent, { kind: 'pack' }>, model: string): Step | Promise<Step> {
  const choosing = choosePackParts(runner, model);
  if (choosing === null) return runner.abort.signal.aborted ? cutOff(runner) : recordPack(runner, intent, model);
  // Aborted in the meantime: the model is not asked any more.
  return choosing.then(() => (runner.abort.signal.aborted ? cutOff(runner) : recordPack(runner, intent, model)));
}

function recordPack(runner: RunningTurn, intent: Extract<Intent, { kind: 'pack' }>, model: string): Step {
  const { deps } = runner;
  const { sessionId } = runner.place;
  const pack = deps.packer.build({
    packId: runner.nextPackId(),
    transcript: runner.transcript,
    model: deps.models.info(model),
    tools: runner.offered(),
    smaller: intent.smaller,
    ...(runner.refused === null ? {} : { refused: runner.refused }),
    identity: runner.identity,
    workspace: runner.workspace,
    rules: deps.continuity.rulesFor(sessionId, runner.origin.agentId).map(({ text }) => text),
    approvals: openApprovals(runner),
    selected: runner.chosen?.parts ?? null,
  });
  const { packId, tokens, counted, parts } = pack.event;
  const before = runner.pack;
  const isTold = before !== null && pack.tail !== undefined && before.tail === pack.tail;
  const tailOf = isTold ? before.tailOf : packId;
  runner.pack = { packId, system: pack.system, tools: pack.tools, messages: pack.messages, tail: pack.tail, tailOf, tokens, counted };
  if (!isTold) markForeignParts(runner, parts ?? []);
  runner.emit('pack.built', { ...pack.event, ...(pack.tail === undefined ? {} : isTold ? { tailOf } : { tail: pack.tail }) });
  return 'next';
}

export async function performComplete(runner: RunningTurn, intent: Extract<Intent, { kind: 'complete' }>): Promise<Step> {
  const { model, pack } = runner;
  if (model === null || pack === null) {
    runner.emit('model.failed', noModel(runner));
    return 'next';
  }
  const hooked = hookModel(runner, { ref: model, tokens: pack.tokens });
  if (hooked !== null) {
    const step = await hooked.then(
      (error) => unlessRefused(runner, error, () => 'rest'),
      () => cutOff(runner),
    );
    if (step !== 'rest') return step;
  }
  const asked = askBudget(runner, model, pack);
  const admitted = asked instanceof Promise ? await asked : asked;
  if (admitted === null) return runner.halted ? 'halt' : 'next';
  let spent: Spent | null = null;
  try {
    spent = await askModel(runner, { model, pack, packId: intent.packId, maxOutputTokens: admitted.maxOutputTokens });
    return runner.halted ? 'halt' : 'next';
  } finally {
    admitted.reservation.settle(spent);
  }
}

/** The maximum kept of a partial answer: an endless one would fill the log. */
const PARTIAL_CHARS_MAX = 256 * 1024;

type Spent = NonNullable<Parameters<Reservation['settle']>[0]>;

interface ModelCall {
  readonly model: string;
  readonly pack: ShownPack;
  readonly packId: string;
  readonly maxOutputTokens: number | null;
}

/** One recorded request and its outcome. Returns its usage, or null if nothing was billed as far as can be told. */
async function askModel(runner: RunningTurn, call: ModelCall): Promise<Spent | null> {
  const { deps } = runner;
  const requestId = deps.ids.next('req');
  runner.emit('model.requested', { requestId, packId: call.packId, model: call.model });
  // Written while the model works: nothing is shown as done before the answer is complete.
  const writeNoMore = runner.flushSoon(deps.wantsDeltas());
  const startedMs = deps.clock.monotonicMs();
  const partial = new GrowingText();
  const sink = createSink(runner, (delta) => partial.add(delta));
  try {
    const { system, tools, messages, tail } = call.pack;
    const { maxOutputTokens } = call;
    const request = {
      system,
      tools,
      messages,
      ...(tail === undefined ? {} : { tail }),
      ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
    };
    const onRetry = (retry: { attempt: number; waitMs: number; error: AppError }): void => {
      runner.emit('model.retried', {
        requestId,
        attempt: retry.attempt,
        waitMs: Math.round(retry.waitMs),
        error: retry.error.toBody(),
      });
      runner.flush();
    };
    const reply = await deps.models.stream(call.model, request, sink, { signal: runner.abort.signal, onRetry });
    await sink.end();
    const { counted } = call.pack;
    if (reply.usageReported && counted !== undefined) {
      deps.learning?.observe({ ref: call.model, fixed: counted.fixed, flow: counted.flow, reportedTokens: reply.usage.inputTokens });
    }
    return recordReply(runner, { requestId, model: call.model, tookMs: deps.clock.monotonicMs() - startedMs }, reply);
  } catch (cause) {
    if (runner.halted) return null;
    await sink.end();
    const error = toAppError(cause);
    if (error.code === 'internal') deps.logger.log('error', 'a model call failed unexpectedly', { cause: error.cause });
    if (error.code === 'model_context_overflow') learnOverflow(runner, call, error);
    return recordFailure(runner, call, { requestId, error, whole: partial.toString(), tookMs: deps.clock.monotonicMs() - startedMs });
  } finally {
    writeNoMore();
  }
}

interface FailedCall {
  readonly requestId: string;
  readonly error: AppError;
  /** The part of the answer received so far. */
  readonly whole: string;
  readonly tookMs: number;
}

function recordFailure(runner: RunningTurn, call: ModelCall, { requestId, error, whole, tookMs }: FailedCall): Spent | null {
  const { deps } = runner;
  const mayAskAgain = error.data['mayAskAgain'] === true;
  const billed = whole === '' && !mayAskAgain ? null : estimateSpent(deps, call, whole);
  const partialText = whole.length > PARTIAL_CHARS_MAX ? `${whole.slice(0, PARTIAL_CHARS_MAX)} […]` : whole;
  runner.emit('model.failed', {
    requestId,
    error: error.toBody(),
    partialText: deps.redact(partialText),
    tookMs,
    ...billed?.recorded,
    // None of it was executed: calls are made only from a complete answer.
    ...(mayAskAgain && !runner.state.brokeOff ? { again: true as const } : {}),
  });
  tellHooks(runner, 'after_model', () => ({
    model: { ref: call.model, tokens: call.pack.tokens, outcome: 'error', text: error.message },
  }));
  return billed?.spent ?? null;
}

function learnOverflow(runner: RunningTurn, { model, pack }: ModelCall, error: AppError): void {
  const { learning } = runner.deps;
  const limitTokens = tokensIn(error, 'limitTokens');
  const requestTokens = tokensIn(error, 'requestTokens');
  runner.refused = {
    tokens: pack.tokens,
    ...(limitTokens === null ? {} : { limitTokens }),
    ...(requestTokens === null ? {} : { requestTokens }),
  };
  const { counted } = pack;
  if (requestTokens !== null && counted !== undefined) {
    learning?.observe({ ref: model, fixed: counted.fixed, flow: counted.flow, reportedTokens: requestTokens });
  }
  learning?.overflowed({ ref: model, packTokens: pack.tokens, limitTokens });
}

function tokensIn(error: AppError, field: 'limitTokens' | 'requestTokens'): number | null {
  const tokens = error.data[field];
  return typeof tokens === 'number' ? tokens : null;
}

function createSink(runner: RunningTurn, keep: (delta: string) => void): DeltaSink & { end(): Promise<void> } {
  const { place } = runner;
  const text = new LiveText(runner, { kind: 'text', ...place, callId: null });
  const reasoning = new LiveText(runner, { kind: 'reasoning', ...place, callId: null });
  return {
    text: (delta) => {
      keep(delta);
      text.push(delta);
    },
    reasoning: (delta) => {
      reasoning.push(delta);
    },
    end: async () => {
      // Text that one stream held back follows everything else, instead of interrupting the other.
      await reasoning.settle();
      await text.settle();
      await reasoning.end();
      await text.end();
    },
  };
}

function recordReply(
  runner: RunningTurn,
  call: { readonly requestId: string; readonly model: string; readonly tookMs: number },
  reply: ModelReply & { firstTokenMs: number | null },
): Spent {
  const { deps } = runner;
  const { requestId, tookMs } = call;
  const costUsd = deps.models.cost(call.model, reply.usage);
  // Redacted here, a secret is in no later step: not in a call, an approval, the next request, or the log.
  const text = deps.redact(reply.text);
  const calls = reply.calls.map((one) => ({
    callId: deps.ids.next('call'),
    providerCallId: one.id,
    tool: deps.redact(one.tool),
    ...safeArgs(runner, one.args),
  }));
  runner.emit('model.finished', {
    requestId,
    text,
    reasoning: deps.redact(reply.reasoning),
    calls,
    usage: reply.usage,
    usageReported: reply.usageReported,
    costUsd,
    finishReason: reply.finishReason,
    tookMs,
    firstTokenMs: reply.firstTokenMs,
  });
  tellHooks(runner, 'after_model', () => ({ model: { ref: call.model, tokens: reply.usage.outputTokens, outcome: 'ok', text } }));
  if (calls.length > 0) runner.emit('plan.drafted', { text, calls: calls.map(({ callId, tool }) => ({ callId, tool })) });
  return { nowMs: deps.clock.nowMs(), costUsd, tokens: reply.usage.inputTokens + reply.usage.outputTokens };
}

/** A partial answer was most likely billed for the request and for the received text. */
function estimateSpent(deps: TurnDeps, { model, pack }: ModelCall, partialText: string): { recorded: object; spent: Spent } {
  const usage = { inputTokens: pack.tokens, outputTokens: deps.estimate(partialText), cachedInputTokens: 0 };
  const costUsd = deps.models.cost(model, usage);
  return { recorded: { usage, costUsd }, spent: { nowMs: deps.clock.nowMs(), costUsd, tokens: usage.inputTokens + usage.outputTokens } };
}

function safeArgs(runner: RunningTurn, args: string): { args: string; withheld?: string[] } {
  const { text, found } = runner.deps.redactJson(args);
  return found.length === 0 ? { args } : { args: text, withheld: [...found] };
}

function noModel(runner: RunningTurn): {
  requestId: string;
  error: { code: 'no_model'; message: string; hint: string };
  partialText: string;
  tookMs: number;
} {
  return {
    requestId: runner.deps.ids.next('req'),
    error: { code: 'no_model', ...noModelWords(runner) },
    partialText: '',
    tookMs: 0,
  };
}

/** A model may have been found since the turn began without one. */
function noModelWords({ deps }: RunningTurn): { message: string; hint: string } {
  const { problem } = deps.models.defaultChoice();
  return problem === null
    ? { message: 'No model could be found when this began.', hint: 'Send the message again.' }
    : { message: problem.message, hint: problem.hint };
}
