// Performs `pack` and `complete`: builds what the model sees, checks the budget, asks, and records the answer or the failure.

import { toAppError } from '../../contracts/errors.ts';
import type { Intent } from '../../agent/brain/brain.ts';
import type { DeltaSink, ModelReply } from '../../contracts/llm.ts';
import { LiveText } from './live-text.ts';
import type { RunningTurn, Step } from './running-turn.ts';

export function performPack(runner: RunningTurn, intent: Extract<Intent, { kind: 'pack' }>): Step {
  const { deps } = runner;
  const model = runner.model;
  if (model === null) {
    runner.emit('model.failed', noModel(runner));
    return 'next';
  }
  const pack = deps.packer.build({
    packId: runner.nextPackId(),
    transcript: runner.transcript,
    model: deps.models.info(model),
    tools: deps.tools.schemas(),
    smaller: intent.smaller,
  });
  runner.pack = { packId: pack.event.packId, system: pack.system };
  runner.emit('pack.built', pack.event);
  return 'next';
}

export async function performComplete(runner: RunningTurn, intent: Extract<Intent, { kind: 'complete' }>): Promise<Step> {
  const { deps, place, model } = runner;
  const exceeded = deps.budget.check({ ...place, nowMs: deps.clock.nowMs() });
  if (exceeded !== null) {
    runner.emit('budget.exceeded', exceeded);
    return 'next';
  }
  if (model === null || runner.pack === null) {
    runner.emit('model.failed', noModel(runner));
    return 'next';
  }
  const requestId = deps.ids.next('req');
  runner.emit('model.requested', { requestId, packId: intent.packId, model });
  // Written while the model works: nothing is promised to anybody until the answer is in.
  // Whoever watches sees what came before in the log before the first word of the answer.
  if (deps.wantsDeltas()) runner.flush();
  const writeNoMore = runner.flushSoon();
  const startedMs = deps.clock.monotonicMs();
  let partialText = '';
  const sink = createSink(runner, (delta) => {
    partialText += delta;
  });
  try {
    const reply = await deps.models.stream(
      model,
      { system: runner.pack.system, tools: deps.tools.schemas(), messages: runner.transcript.messages },
      sink,
      {
        signal: runner.abort.signal,
        onRetry: (retry) => {
          runner.emit('model.retried', {
            requestId,
            attempt: retry.attempt,
            waitMs: Math.round(retry.waitMs),
            error: retry.error.toBody(),
          });
          runner.flush();
        },
      },
    );
    sink.end();
    recordReply(runner, requestId, reply, deps.clock.monotonicMs() - startedMs);
    return 'next';
  } catch (cause) {
    if (runner.halted) return 'halt';
    sink.end();
    const error = toAppError(cause);
    if (error.code === 'internal') deps.logger.log('error', 'a model call failed unexpectedly', { cause: error.cause });
    runner.emit('model.failed', {
      requestId,
      error: error.toBody(),
      partialText: deps.redact(partialText),
      tookMs: deps.clock.monotonicMs() - startedMs,
    });
    return 'next';
  } finally {
    writeNoMore();
  }
}

function createSink(runner: RunningTurn, keep: (delta: string) => void): DeltaSink & { end(): void } {
  const { deps, place } = runner;
  const text = new LiveText(deps, { kind: 'text', ...place, callId: null });
  const reasoning = new LiveText(deps, { kind: 'reasoning', ...place, callId: null });
  return {
    text: (delta) => {
      keep(delta);
      text.push(delta);
    },
    reasoning: (delta) => {
      reasoning.push(delta);
    },
    end: () => {
      reasoning.end();
      text.end();
    },
  };
}

function recordReply(runner: RunningTurn, requestId: string, reply: ModelReply & { firstTokenMs: number | null }, tookMs: number): void {
  const { deps, place } = runner;
  const model = runner.model ?? '';
  const costUsd = deps.models.cost(model, reply.usage);
  // What is taken out here is in no later step: not in a call, a question, the next request, or the log.
  const text = deps.redact(reply.text);
  const calls = reply.calls.map((call) => ({
    callId: deps.ids.next('call'),
    providerCallId: call.id,
    tool: deps.redact(call.tool),
    ...safeArgs(runner, call.args),
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
  deps.budget.record({ ...place, nowMs: deps.clock.nowMs(), costUsd, tokens: reply.usage.inputTokens + reply.usage.outputTokens });
  if (calls.length > 0) {
    runner.emit('plan.drafted', { text, calls: calls.map((call) => ({ callId: call.callId, tool: call.tool })) });
    // Whoever watches the text must see where this reply ends before the text of the next one begins.
    if (deps.wantsDeltas()) runner.flush();
  }
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
    error: {
      code: 'no_model',
      message: 'No model is configured and no local model server was found.',
      hint: 'Start Ollama, LM Studio or llama-server, add a provider to config.yaml, or set models.default to demo/offline.',
    },
    partialText: '',
    tookMs: 0,
  };
}
