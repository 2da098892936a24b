// Performs `pack` and `complete`: builds the request, asks the model within the budget, and records the answer or the failure.

import { GrowingText } from '../../base/growing-text.ts';
import { toAppError, type AppError, type ErrorBody } from '../../contracts/errors.ts';
import type { Intent } from '../../agent/brain/brain.ts';
import type { DeltaSink, ModelReply } from '../../contracts/llm.ts';
import type { Reservation } from '../../guard/budget/budget.ts';
import { noCandidate } from '../../mind/llm/llm.ts';
import { askBudget } from './ask-budget.ts';
import { choosePackParts, markForeignParts, openApprovals } from './pack-parts.ts';
import { hookModel, hookRun, tellHooks } from './hooks-of-turn.ts';
import { LiveText } from './live-text.ts';
import type { TurnDeps } from './ports.ts';
import { chooseOfRoute, failoverAfter, settleRoute } from './route-of-turn.ts';
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

/** A hook that was aborted together with its turn gave no verdict. */
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
  const { model: named, deps } = runner;
  if (named === null) {
    runner.emit('model.failed', noModel(runner));
    return 'next';
  }
  const { routes } = deps;
  if (routes === undefined || !routes.has(named)) return packFor(runner, intent, named);
  const { model, reason, waitMs } = chooseOfRoute(runner, routes, named);
  if (model === null) {
    const error = noCandidate(named, reason).toBody();
    runner.emit('model.failed', { requestId: deps.ids.next('req'), error, partialText: '', tookMs: 0 });
    return 'next';
  }
  if (waitMs === 0) return packFor(runner, intent, model);
  return pauseFor(runner, waitMs).then(() => (runner.abort.signal.aborted ? cutOff(runner) : packFor(runner, intent, model)));
}

/** Resolves early if the turn is aborted. */
function pauseFor({ deps, abort }: RunningTurn, waitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const callOff = deps.later(waitMs, finish);
    function finish(): void {
      callOff();
      abort.signal.removeEventListener('abort', finish);
      resolve();
    }
    if (abort.signal.aborted) finish();
    else abort.signal.addEventListener('abort', finish, { once: true });
  });
}

function packFor(runner: RunningTurn, intent: Extract<Intent, { kind: 'pack' }>, model: string): Step | Promise<Step> {
  const asking = runner.deps.models.askWindow?.(model, runner.abort.signal) ?? null;
  return asking === null ? choosePack(runner, intent, model) : asking.then(() => choosePack(runner, intent, model));
}

function choosePack(runner: RunningTurn, intent: Extract<Intent, { kind: 'pack' }>, model: string): Step | Promise<Step> {
  const choosing = choosePackParts(runner, model);
  if (choosing === null) return runner.abort.signal.aborted ? cutOff(runner) : recordPack(runner, intent, model);
  // Aborted in the meantime, so the model is not asked any more.
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
    approvals: openApprovals(runner.deps.policy, runner.place.sessionId),
    selected: runner.chosen?.parts ?? null,
  });
  const { packId, tokens, counted, parts } = pack.event;
  const before = runner.pack;
  const isTold = before !== null && pack.tail !== undefined && before.tail === pack.tail;
  const tailOf = isTold ? before.tailOf : packId;
  runner.pack = {
    packId,
    model,
    system: pack.system,
    tools: pack.tools,
    messages: pack.messages,
    tail: pack.tail,
    tailOf,
    tokens,
    counted,
  };
  if (!isTold) markForeignParts(runner, parts ?? []);
  runner.emit('pack.built', { ...pack.event, ...(pack.tail === undefined ? {} : isTold ? { tailOf } : { tail: pack.tail }) });
  return 'next';
}

export async function performComplete(runner: RunningTurn, intent: Extract<Intent, { kind: 'complete' }>): Promise<Step> {
  const { pack } = runner;
  if (pack === null) {
    runner.emit('model.failed', noModel(runner));
    return 'next';
  }
  const { model } = pack;
  const hooked = hookModel(runner, { ref: model, tokens: pack.tokens });
  if (hooked !== null) {
    const step = await hooked.then(
      (error) => unlessRefused(runner, error, () => 'rest'),
      () => cutOff(runner),
    );
    if (step !== 'rest') return step;
  }
  const admission = askBudget(runner, model, pack);
  const admitted = admission instanceof Promise ? await admission : admission;
  if (admitted === null) return runner.halted ? 'halt' : 'next';
  let spent: Spent | null = null;
  let waitMs = 0;
  try {
    const asked = await askModel(runner, { model, pack, packId: intent.packId, maxOutputTokens: admitted.maxOutputTokens });
    ({ spent } = asked);
    waitMs = asked.waitMs;
  } finally {
    admitted.reservation.settle(spent);
  }
  if (waitMs > 0) await pauseFor(runner, waitMs);
  return runner.halted ? 'halt' : 'next';
}

/** The maximum length kept of a partial answer: an endless one would fill the log. */
const PARTIAL_CHARS_MAX = 256 * 1024;

/** Later requests of a turn are shown a moment later, so that those of a model that answers at once are written together. */
const REQUESTS_SHOWN_AT_ONCE = 2;

type Spent = NonNullable<Parameters<Reservation['settle']>[0]>;

interface ModelCall {
  readonly model: string;
  readonly pack: ShownPack;
  readonly packId: string;
  readonly maxOutputTokens: number | null;
}

interface Asked {
  /** The spending, or null if nothing is known to be billed. */
  readonly spent: Spent | null;
  /** The delay before the next model is asked. */
  readonly waitMs: number;
}

/** Sends one request and records its result. */
async function askModel(runner: RunningTurn, call: ModelCall): Promise<Asked> {
  const { deps, route } = runner;
  const requestId = deps.ids.next('req');
  const why = route?.note ?? null;
  runner.emit('model.requested', { requestId, packId: call.packId, model: call.model, ...(why === null ? {} : { route: why }) });
  // Written while the model works: nothing depends on it until the answer has arrived.
  const writeNoMore = runner.flushSoon(deps.deltas.size > 0 && runner.state.modelCalls < REQUESTS_SHOWN_AT_ONCE);
  const startedMs = deps.clock.monotonicMs();
  const partial = new GrowingText();
  const sink = createSink(runner, requestId, (delta) => partial.add(delta));
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
    const reply = await deps.models.stream(call.model, request, sink, {
      signal: runner.abort.signal,
      place: runner.place,
      onRetry,
      ...(route === null ? {} : { once: true }),
    });
    await sink.end();
    const { counted } = call.pack;
    if (reply.usageReported && counted !== undefined) {
      deps.learning?.observe({ ref: call.model, fixed: counted.fixed, flow: counted.flow, reportedTokens: reply.usage.inputTokens });
    }
    settleRoute(runner);
    return { spent: recordReply(runner, { requestId, model: call.model, tookMs: deps.clock.monotonicMs() - startedMs }, reply), waitMs: 0 };
  } catch (cause) {
    if (runner.halted) return { spent: null, waitMs: 0 };
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

function recordFailure(runner: RunningTurn, call: ModelCall, { requestId, error, whole, tookMs }: FailedCall): Asked {
  const { deps } = runner;
  const failover = failoverAfter(runner, call.model, error);
  const mayAskAgain = error.data['mayAskAgain'] === true;
  const isUnbilled = whole === '' && !mayAskAgain && error.data['begun'] !== true;
  const billed = isUnbilled ? null : estimateSpent(deps, call, whole);
  const partialText = whole.length > PARTIAL_CHARS_MAX ? `${whole.slice(0, PARTIAL_CHARS_MAX)} […]` : whole;
  runner.emit('model.failed', {
    requestId,
    error: error.toBody(),
    partialText: deps.redact(partialText),
    tookMs,
    ...billed?.recorded,
    // None of the answer was executed, because calls are made only from a complete answer.
    ...(mayAskAgain && !runner.state.brokeOff ? { again: true as const } : {}),
    ...(failover === null ? {} : { failover }),
  });
  // Listeners now see that another model is asked.
  if (failover !== null) runner.flush();
  tellHooks(runner, 'after_model', () => ({
    model: { ref: call.model, tokens: call.pack.tokens, outcome: 'error', text: error.message },
  }));
  return { spent: billed?.spent ?? null, waitMs: failover?.waitMs ?? 0 };
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

function createSink(runner: RunningTurn, requestId: string, keep: (delta: string) => void): DeltaSink & { end(): Promise<void> } {
  const about = { ...runner.place, callId: null, requestId };
  const text = new LiveText(runner, { kind: 'text', ...about });
  const reasoning = new LiveText(runner, { kind: 'reasoning', ...about });
  return {
    text: (delta) => {
      keep(delta);
      text.push(delta);
    },
    reasoning: (delta) => {
      reasoning.push(delta);
    },
    end: async () => {
      // Text that one stream held back follows everything else, instead of interrupting the other stream.
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
  const costUsd = reply.costUsd ?? deps.models.cost(call.model, reply.usage);
  // Redacted here, a secret reaches no later step: no call, no approval, no later request, and not the log.
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
    ...(reply.phase === undefined ? {} : { phase: reply.phase }),
    tookMs,
    firstTokenMs: reply.firstTokenMs,
  });
  tellHooks(runner, 'after_model', () => ({ model: { ref: call.model, tokens: reply.usage.outputTokens, outcome: 'ok', text } }));
  if (calls.length > 0) runner.emit('plan.drafted', { text, calls: calls.map(({ callId, tool }) => ({ callId, tool })) });
  return { nowMs: deps.clock.nowMs(), costUsd, tokens: reply.usage.inputTokens + reply.usage.outputTokens };
}

/** Estimates the cost of a partial answer, which was probably billed for the request and for the received text. */
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
