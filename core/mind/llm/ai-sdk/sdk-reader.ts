// Assembles one reply from the parts of an answer that the AI SDK streams. Ignores unknown parts, because packages add new ones. Keeps the
// data that a vendor wants back with its calls.

import { isPlainObject } from '../../../base/json.ts';
import type { FinishReason, ReplyCall, Usage } from '../../../contracts/llm.ts';
import type { KeptOfCalls } from '../kept-of-call.ts';
import { argsText, count, cutOff, ReplyText, type ProgressSink, type RawReply } from '../reply-reader.ts';

const reasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
};

/** An error among the parts of an answer. */
export class SdkStreamError extends Error {
  readonly error: unknown;

  constructor(error: unknown) {
    super('The answer holds an error.');
    this.error = error;
  }
}

export class SdkReader {
  readonly #provider: string;
  readonly #sink: ProgressSink;
  readonly #kept: Pick<KeptOfCalls, 'keep'>;
  readonly #said: ReplyText;
  readonly #calls: ReplyCall[] = [];
  #usage: Usage | null = null;
  #finish: FinishReason | null = null;

  constructor(provider: string, sink: ProgressSink, kept: Pick<KeptOfCalls, 'keep'>) {
    this.#provider = provider;
    this.#sink = sink;
    this.#kept = kept;
    this.#said = new ReplyText(provider, sink);
  }

  /** Throws SdkStreamError, or `model_bad_reply` if the answer does not end. */
  part(part: unknown): void {
    this.#sink.alive?.();
    if (!isPlainObject(part)) return;
    switch (part['type']) {
      case 'text-delta':
        return this.#said.addText(part['delta']);
      case 'reasoning-delta':
        return this.#said.addReasoning(part['delta']);
      case 'tool-input-start':
        return this.#sink.began?.();
      case 'tool-call':
        return this.#call(part);
      case 'error':
        throw new SdkStreamError(part['error']);
      case 'finish':
        this.#usage = usageOf(part['usage']);
        this.#finish = finishOf(part['finishReason'], this.#calls.length > 0);
    }
  }

  /** Throws `model_cut_off` if the stream ended before the answer did. */
  finish(): RawReply {
    if (this.#finish === null) throw cutOff(this.#provider);
    return { text: this.#said.text, reasoning: this.#said.reasoning, calls: this.#calls, usage: this.#usage, finishReason: this.#finish };
  }

  #call(part: Readonly<Record<string, unknown>>): void {
    // A call that the vendor ran itself is part of its answer.
    if (part['providerExecuted'] === true) return;
    this.#sink.began?.();
    const { toolCallId, toolName, input, providerMetadata } = part;
    const id = typeof toolCallId === 'string' ? toolCallId : '';
    this.#calls.push({ id, tool: String(toolName), args: this.#said.argumentsOf(argsText(input)) });
    if (isPlainObject(providerMetadata) && !namesStoredItem(providerMetadata))
      this.#kept.keep(id, { extra: JSON.stringify(providerMetadata) });
  }
}

/**
 * Returns whether the metadata names an item in the vendor's own store. Such a reference may be stale and is not sent back, unlike a
 * signature.
 */
function namesStoredItem(metadata: Readonly<Record<string, unknown>>): boolean {
  return Object.values(metadata).some((one) => isPlainObject(one) && 'itemId' in one);
}

/** The reason is a string, or an object around one since version 3 of the interface. */
function finishOf(given: unknown, hasCalls: boolean): FinishReason {
  const word: unknown = isPlainObject(given) ? given['unified'] : given;
  const reason = (typeof word === 'string' ? reasons[word] : undefined) ?? 'other';
  return reason === 'stop' && hasCalls ? 'tool_calls' : reason;
}

/** The counts are numbers, or objects with totals since version 3 of the interface. */
function usageOf(given: unknown): Usage | null {
  if (!isPlainObject(given)) return null;
  const { inputTokens, outputTokens, cachedInputTokens } = given;
  const total = (value: unknown): unknown => (isPlainObject(value) ? value['total'] : value);
  const [input, output] = [total(inputTokens), total(outputTokens)];
  if (typeof input !== 'number' || typeof output !== 'number') return null;
  const cached = isPlainObject(inputTokens) ? inputTokens['cacheRead'] : cachedInputTokens;
  return { inputTokens: count(input), outputTokens: count(output), cachedInputTokens: count(cached) };
}
