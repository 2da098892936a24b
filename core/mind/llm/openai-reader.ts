// Reads an OpenAI chat-completions answer, streamed or whole, from the vendor and from servers that deviate from the format. Source: OpenAI
// API reference, chat completion chunks; deviations as seen on vLLM, llama.cpp, LM Studio, Gemini and Mistral front ends.

import { isPlainObject, parseJson } from '../../base/json.ts';
import type { AppError } from '../../contracts/errors.ts';
import type { FinishReason, ReplyCall, Usage } from '../../contracts/llm.ts';
import { CallAssembler } from './openai-calls.ts';
import { ReasoningDetails, renamedIds } from './reasoning-details.ts';
import { badReply, count, cutOff, ReplyText, type ProgressSink, type RawReply, type ReplyReader } from './reply-reader.ts';

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  eos: 'stop',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  length: 'length',
  max_tokens: 'length',
  content_filter: 'content_filter',
};

export interface ReaderContext {
  readonly provider: string;
  readonly sink: ProgressSink;
  /** Turns an error object inside a stream into the error to throw. */
  readonly mapError: (body: unknown) => AppError;
  /** True if the answer must match a schema; a refusal written as text does not. */
  readonly wantsOutput?: boolean;
}

export class OpenAiReader implements ReplyReader {
  readonly #context: ReaderContext;
  readonly #said: ReplyText;
  readonly #calls = new CallAssembler();
  #usage: Usage | null = null;
  #finish: FinishReason | null = null;
  #isDone = false;
  #hasRefused = false;
  readonly #details = new ReasoningDetails();

  constructor(context: ReaderContext) {
    this.#context = context;
    this.#said = new ReplyText(context.provider, context.sink);
  }

  event(data: string): boolean {
    if (data.startsWith('[DONE]')) {
      this.#isDone = true;
      return true;
    }
    const parsed = parseJson(data);
    if (!parsed.ok || !isPlainObject(parsed.value)) throw badReply(this.#context.provider, parsed.ok ? undefined : parsed.error);
    this.#chunk(parsed.value);
    // Some servers send neither [DONE] nor an end; after the finish reason and the usage nothing is missing.
    return this.#finish !== null && this.#usage !== null;
  }

  whole(document: unknown): void {
    if (!isPlainObject(document)) throw badReply(this.#context.provider);
    this.#chunk(document);
    if (document['choices'] === undefined) throw badReply(this.#context.provider);
    this.#isDone = true;
  }

  /** For each call, in order: the data that the vendor wants back with it, as JSON text; '' for none. */
  callExtras(): string[] {
    return this.#calls.finish().map(({ extra }) => extra);
  }

  /** JSON texts of OpenRouter's reasoning, with the calls' ids as they are sent back. */
  reasoningDetails(calls: readonly ReplyCall[], sent: (id: string) => string): string[] {
    return this.#details.texts(renamedIds(this.#calls.finish(), calls, sent));
  }

  finish(): RawReply {
    if (this.#finish === null && !this.#isDone) throw cutOff(this.#context.provider);
    const calls = this.#calls.finish().map(({ id, name, args }) => ({ id, tool: name, args }));
    const given = this.#hasRefused && this.#context.wantsOutput === true ? 'content_filter' : (this.#finish ?? 'stop');
    const finishReason = calls.length > 0 && (given === 'stop' || given === 'other') ? 'tool_calls' : given;
    return { text: this.#said.text, reasoning: this.#said.reasoning, calls, usage: this.#usage, finishReason };
  }

  #chunk(chunk: Record<string, unknown>): void {
    if (isErrorObject(chunk)) throw this.#context.mapError(chunk);
    if (isPlainObject(chunk['usage'])) this.#usage = readUsage(chunk['usage']);
    const choices: unknown = chunk['choices'];
    const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
    if (!isPlainObject(choice)) return;
    if (isErrorObject(choice)) throw this.#context.mapError(choice);
    if (isPlainObject(choice['usage'])) this.#usage = readUsage(choice['usage']);
    if (isPlainObject(choice['delta'])) this.#delta(choice['delta']);
    else if (isPlainObject(choice['message']) && this.#said.text === '' && this.#calls.isEmpty) this.#delta(choice['message']);
    const finish = choice['finish_reason'];
    if (typeof finish !== 'string' || finish === '') return;
    this.#finish = finishReasons[finish] ?? 'other';
    this.#context.sink.ended?.();
  }

  #delta(delta: Record<string, unknown>): void {
    this.#said.addReasoning(isText(delta['reasoning_content']) ? delta['reasoning_content'] : delta['reasoning']);
    this.#details.add(delta['reasoning_details']);
    this.#addContent(delta['content']);
    this.#said.addText(delta['refusal']);
    this.#hasRefused ||= isText(delta['refusal']);
    const pieces = callPieces(delta);
    if (pieces.length === 0) return;
    this.#context.sink.began?.();
    this.#calls.add(pieces, (args) => this.#said.argumentsOf(args));
  }

  #addContent(content: unknown): void {
    if (!Array.isArray(content)) {
      this.#said.addText(content);
      return;
    }
    for (const part of content as unknown[]) {
      if (!isPlainObject(part)) continue;
      this.#said.addText(part['text']);
      if (Array.isArray(part['thinking'])) {
        for (const thought of part['thinking'] as unknown[]) if (isPlainObject(thought)) this.#said.addReasoning(thought['text']);
      }
    }
  }
}

/** Matches `{"error": …}`, and `{"object": "error", "message": …}` as vLLM and SGLang send it. */
function isErrorObject({ error, object }: Record<string, unknown>): boolean {
  return (error !== undefined && error !== null) || (typeof object === 'string' && object.toLowerCase() === 'error');
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function callPieces(delta: Record<string, unknown>): Record<string, unknown>[] {
  const calls: unknown = delta['tool_calls'];
  if (Array.isArray(calls)) return (calls as unknown[]).filter(isPlainObject);
  return isPlainObject(delta['function_call']) ? [{ index: 0, function: delta['function_call'] }] : [];
}

/** Reads the usage of chat completions and of responses, which name the same counts differently. */
export function readUsage(usage: Record<string, unknown>): Usage {
  const details = usage['prompt_tokens_details'] ?? usage['input_tokens_details'];
  const inputTokens = count(usage['prompt_tokens'] ?? usage['input_tokens']);
  const cached = count(isPlainObject(details) ? details['cached_tokens'] : usage['prompt_cache_hit_tokens']);
  return {
    inputTokens,
    outputTokens: count(usage['completion_tokens'] ?? usage['output_tokens']),
    cachedInputTokens: Math.min(cached, inputTokens),
  };
}
