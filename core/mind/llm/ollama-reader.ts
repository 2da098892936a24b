// Reads an answer of Ollama's own chat API: one JSON object per line, or a single one. Source: Ollama API documentation, api/types.go
// (2026). Must not decide what a failure means; ollama-errors.ts does that.

import { isPlainObject, parseJson } from '../../base/json.ts';
import type { FinishReason, ReplyCall, Usage } from '../../contracts/llm.ts';
import type { ReaderContext } from './openai-reader.ts';
import { argsText, badReply, count, cutOff, ReplyText, type RawReply, type ReplyReader } from './reply-reader.ts';

const doneReasons: Readonly<Record<string, FinishReason>> = { stop: 'stop', length: 'length', load: 'other', unload: 'other' };

export class OllamaReader implements ReplyReader {
  readonly #context: ReaderContext;
  readonly #said: ReplyText;
  readonly #calls: ReplyCall[] = [];
  #usage: Usage | null = null;
  #finish: FinishReason | null = null;
  /** True once a document of this format has arrived. */
  #isKnown = false;

  constructor(context: ReaderContext) {
    this.#context = context;
    this.#said = new ReplyText(context.provider, context.sink);
  }

  event(data: string): boolean {
    const parsed = parseJson(data);
    if (!parsed.ok) throw badReply(this.#context.provider, parsed.error);
    this.whole(parsed.value);
    return this.#finish !== null;
  }

  whole(document: unknown): void {
    if (!isPlainObject(document)) throw badReply(this.#context.provider);
    if (document['error'] !== undefined && document['error'] !== null) throw this.#context.mapError(document);
    this.#isKnown ||= 'message' in document || 'done' in document;
    if (isPlainObject(document['message'])) this.#message(document['message']);
    if (document['done'] === true) this.#end(document);
  }

  finish(): RawReply {
    if (!this.#isKnown) throw badReply(this.#context.provider);
    if (this.#finish === null) throw cutOff(this.#context.provider);
    const finishReason = this.#calls.length > 0 && this.#finish !== 'length' ? 'tool_calls' : this.#finish;
    return { text: this.#said.text, reasoning: this.#said.reasoning, calls: this.#calls, usage: this.#usage, finishReason };
  }

  #message(message: Record<string, unknown>): void {
    this.#said.addReasoning(message['thinking']);
    this.#said.addText(message['content']);
    const calls: unknown = message['tool_calls'];
    for (const call of Array.isArray(calls) ? (calls as unknown[]) : []) if (isPlainObject(call)) this.#call(call);
  }

  /** A call arrives whole. Some servers repeat earlier calls in each line; an identical call with the same id is one call. */
  #call(call: Record<string, unknown>): void {
    const fn = isPlainObject(call['function']) ? call['function'] : call;
    this.#context.sink.began?.();
    const args = this.#said.argumentsOf(argsText(fn['arguments']));
    const made = { id: textOf(call['id']), tool: textOf(fn['name']), args };
    const isRepeat = this.#calls.some((one) => made.id !== '' && one.id === made.id && one.tool === made.tool && one.args === args);
    if (!isRepeat) this.#calls.push(made);
  }

  #end(document: Record<string, unknown>): void {
    const reason = document['done_reason'];
    this.#finish = typeof reason === 'string' ? (doneReasons[reason] ?? 'other') : 'stop';
    // Older servers omit the count of a prompt they have cached.
    if (typeof document['prompt_eval_count'] !== 'number') return;
    this.#usage = { inputTokens: count(document['prompt_eval_count']), outputTokens: count(document['eval_count']), cachedInputTokens: 0 };
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
