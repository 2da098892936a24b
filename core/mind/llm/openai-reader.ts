// Reads an OpenAI chat-completions answer, streamed or whole, from the vendor and from servers that bend the format.
// Source: OpenAI API reference, chat completion chunks; deviations as seen on vLLM, llama.cpp, LM Studio, Gemini and Mistral front ends.

import { isPlainObject, parseJson } from '../../base/json.ts';
import type { AppError } from '../../contracts/errors.ts';
import type { FinishReason, Usage } from '../../contracts/llm.ts';
import { argsText, badReply, count, cutOff, type ProgressSink, type RawReply, type ReplyReader } from './reply-reader.ts';

interface CallDraft {
  readonly index: number | null;
  id: string;
  name: string;
  args: string;
}

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
}

export class OpenAiReader implements ReplyReader {
  readonly #context: ReaderContext;
  #text = '';
  #reasoning = '';
  readonly #calls: CallDraft[] = [];
  #usage: Usage | null = null;
  #finish: FinishReason | null = null;
  #isDone = false;

  constructor(context: ReaderContext) {
    this.#context = context;
  }

  event(data: string): boolean {
    if (data.startsWith('[DONE]')) {
      this.#isDone = true;
      return true;
    }
    const parsed = parseJson(data);
    if (!parsed.ok || !isPlainObject(parsed.value)) throw badReply(this.#context.provider, parsed.ok ? undefined : parsed.error);
    this.#chunk(parsed.value);
    // Some servers send neither [DONE] nor an end; after finish and usage nothing is missing.
    return this.#finish !== null && this.#usage !== null;
  }

  whole(document: unknown): void {
    if (!isPlainObject(document)) throw badReply(this.#context.provider);
    this.#chunk(document);
    if (document['choices'] === undefined) throw badReply(this.#context.provider);
    this.#isDone = true;
  }

  finish(): RawReply {
    if (this.#finish === null && !this.#isDone) throw cutOff(this.#context.provider);
    const calls = this.#calls.map(({ id, name, args }) => ({ id, tool: name, args }));
    const given = this.#finish ?? 'stop';
    const finishReason = calls.length > 0 && (given === 'stop' || given === 'other') ? 'tool_calls' : given;
    return { text: this.#text, reasoning: this.#reasoning, calls, usage: this.#usage, finishReason };
  }

  #chunk(chunk: Record<string, unknown>): void {
    if (chunk['error'] !== undefined && chunk['error'] !== null) throw this.#context.mapError(chunk);
    if (isPlainObject(chunk['usage'])) this.#usage = readUsage(chunk['usage']);
    const choices: unknown = chunk['choices'];
    const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
    if (!isPlainObject(choice)) return;
    if (isPlainObject(choice['usage'])) this.#usage = readUsage(choice['usage']);
    if (isPlainObject(choice['delta'])) this.#delta(choice['delta']);
    else if (isPlainObject(choice['message']) && this.#text === '' && this.#calls.length === 0) this.#delta(choice['message']);
    const finish = choice['finish_reason'];
    if (typeof finish === 'string' && finish !== '') this.#finish = finishReasons[finish] ?? 'other';
  }

  #delta(delta: Record<string, unknown>): void {
    this.#addReasoning(delta['reasoning_content'] ?? delta['reasoning']);
    this.#addContent(delta['content']);
    this.#addText(delta['refusal']);
    const calls: unknown = delta['tool_calls'];
    if (Array.isArray(calls)) {
      for (const piece of calls as unknown[]) if (isPlainObject(piece)) this.#addCallPiece(piece);
    } else if (isPlainObject(delta['function_call'])) {
      this.#addCallPiece({ index: 0, function: delta['function_call'] });
    }
  }

  #addContent(content: unknown): void {
    if (!Array.isArray(content)) {
      this.#addText(content);
      return;
    }
    for (const part of content as unknown[]) {
      if (!isPlainObject(part)) continue;
      this.#addText(part['text']);
      if (Array.isArray(part['thinking'])) {
        for (const thought of part['thinking'] as unknown[]) if (isPlainObject(thought)) this.#addReasoning(thought['text']);
      }
    }
  }

  #addText(text: unknown): void {
    if (typeof text !== 'string' || text === '') return;
    this.#text += text;
    this.#context.sink.text(text);
  }

  #addReasoning(text: unknown): void {
    if (typeof text !== 'string' || text === '') return;
    this.#reasoning += text;
    this.#context.sink.reasoning?.(text);
  }

  #addCallPiece(piece: Record<string, unknown>): void {
    this.#context.sink.began?.();
    const id = typeof piece['id'] === 'string' ? piece['id'] : '';
    const index = typeof piece['index'] === 'number' ? piece['index'] : null;
    const fn = isPlainObject(piece['function']) ? piece['function'] : piece;
    const name = typeof fn['name'] === 'string' ? fn['name'] : '';
    let draft = this.#findDraft(index, id, name);
    if (draft === undefined) {
      draft = { index, id, name: '', args: '' };
      this.#calls.push(draft);
    }
    if (draft.id === '') draft.id = id;
    addName(draft, name);
    draft.args += argsText(fn['arguments']);
  }

  /** The call this piece continues. A new id with a name opens a new call even under a used index; a new id alone does not. */
  #findDraft(index: number | null, id: string, name: string): CallDraft | undefined {
    const last = this.#calls[this.#calls.length - 1];
    if (index === null) {
      const byId = id === '' ? undefined : this.#calls.find((draft) => draft.id === id);
      if (byId !== undefined) return byId;
      return id !== '' || (name !== '' && last?.args !== '') ? undefined : last;
    }
    const byIndex = this.#calls.findLast((draft) => draft.index === index);
    const isOther = byIndex !== undefined && id !== '' && byIndex.id !== '' && byIndex.id !== id && name !== '';
    return isOther ? undefined : byIndex;
  }
}

/** Names come once, again with every piece, growing, or in pieces. */
function addName(draft: CallDraft, name: string): void {
  if (name === '' || name === draft.name || draft.args !== '') {
    if (draft.name === '') draft.name = name;
    return;
  }
  draft.name = name.startsWith(draft.name) ? name : draft.name + name;
}

function readUsage(usage: Record<string, unknown>): Usage {
  const details = usage['prompt_tokens_details'];
  const inputTokens = count(usage['prompt_tokens'] ?? usage['input_tokens']);
  const cached = count(isPlainObject(details) ? details['cached_tokens'] : usage['prompt_cache_hit_tokens']);
  return {
    inputTokens,
    outputTokens: count(usage['completion_tokens'] ?? usage['output_tokens']),
    cachedInputTokens: Math.min(cached, inputTokens),
  };
}
