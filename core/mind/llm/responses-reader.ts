// Reads an answer of OpenAI's Responses API, streamed or whole. Source: OpenAI API reference, streaming events of responses (2026);
// llama.cpp, Ollama and LM Studio send a subset of it.

import { isPlainObject, parseJson } from '../../base/json.ts';
import { replyPhaseSchema, type FinishReason, type ReplyPhase, type Usage } from '../../contracts/llm.ts';
import { blocksBeforeCalls } from './kept-of-call.ts';
import { readUsage, type ReaderContext } from './openai-reader.ts';
import { argsText, badReply, cutOff, ReplyText, type RawReply, type ReplyReader } from './reply-reader.ts';

type Part = Record<string, unknown>;

/** One item of the answer, as far as it has arrived. */
interface Item {
  readonly type: string;
  id: string;
  tool: string;
  args: string;
  /** True if text or arguments arrived in pieces; the complete item at the end then repeats them. */
  hasPieces: boolean;
  /** The JSON text of a reasoning item that may be sent back. */
  sealed: string;
}

const incomplete: Readonly<Record<string, FinishReason>> = { max_output_tokens: 'length', content_filter: 'content_filter' };

export class ResponsesReader implements ReplyReader {
  readonly #context: ReaderContext;
  readonly #said: ReplyText;
  readonly #items = new Map<number, Item>();
  #usage: Usage | null = null;
  #end: FinishReason | null = null;
  #hasRefused = false;
  /** That of the last message: an answer with a comment before it is the answer. */
  #phase: ReplyPhase | undefined;

  constructor(context: ReaderContext) {
    this.#context = context;
    this.#said = new ReplyText(context.provider, context.sink);
  }

  event(data: string, event: string): boolean {
    if (data.startsWith('[DONE]')) return this.#end !== null;
    const parsed = parseJson(data);
    if (!parsed.ok || !isPlainObject(parsed.value)) throw badReply(this.#context.provider, parsed.ok ? undefined : parsed.error);
    const { value } = parsed;
    this.#read(typeof value['type'] === 'string' ? value['type'] : event, value);
    return this.#end !== null;
  }

  whole(document: unknown): void {
    if (!isPlainObject(document)) throw badReply(this.#context.provider);
    if (isPlainObject(document['error'])) throw this.#context.mapError(document);
    if (!Array.isArray(document['output'])) throw badReply(this.#context.provider);
    this.#close(document);
  }

  finish(): RawReply {
    if (this.#end === null) throw cutOff(this.#context.provider);
    const calls = this.#inOrder().flatMap(({ type, id, tool, args }) => (type === 'function_call' ? [{ id, tool, args }] : []));
    const given = this.#hasRefused && this.#context.wantsOutput === true ? 'content_filter' : this.#end;
    const finishReason = calls.length > 0 && given === 'stop' ? 'tool_calls' : given;
    const phase = this.#phase === undefined ? {} : { phase: this.#phase };
    return { text: this.#said.text, reasoning: this.#said.reasoning, calls, usage: this.#usage, finishReason, ...phase };
  }

  /** For each call, in order: the reasoning items since the previous call, and the position of the text. */
  beforeCalls(): string[][] {
    return blocksBeforeCalls(this.#inOrder(), { text: 'message', call: 'function_call' });
  }

  #inOrder(): Item[] {
    return [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
  }

  #read(type: string, event: Part): void {
    const at = typeof event['output_index'] === 'number' ? event['output_index'] : 0;
    switch (type) {
      case 'response.output_item.added':
        this.#begin(at, event['item']);
        break;
      case 'response.output_item.done':
        this.#complete(at, event['item']);
        break;
      case 'error':
        throw this.#context.mapError({ error: isPlainObject(event['error']) ? event['error'] : event });
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        this.#close(isPlainObject(event['response']) ? event['response'] : {});
        break;
      default:
        this.#piece(type, at, event['delta']);
    }
  }

  /** Ignores all other events. */
  #piece(type: string, at: number, delta: unknown): void {
    switch (type) {
      case 'response.output_text.delta':
        this.#words(at, delta);
        break;
      case 'response.refusal.delta':
        this.#refuse(at, delta);
        break;
      case 'response.function_call_arguments.delta':
        this.#arguments(at, delta);
        break;
      case 'response.reasoning_summary_part.added':
        if (this.#said.reasoning !== '') this.#said.addReasoning('\n\n');
        break;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.#itemAt(at, 'reasoning').hasPieces = true;
        this.#said.addReasoning(delta);
        break;
      default:
    }
  }

  #itemAt(at: number, type: string): Item {
    const found = this.#items.get(at);
    if (found !== undefined) return found;
    const item = { type, id: '', tool: '', args: '', hasPieces: false, sealed: '' };
    this.#items.set(at, item);
    return item;
  }

  #begin(at: number, given: unknown): Item | null {
    if (!isPlainObject(given) || typeof given['type'] !== 'string') return null;
    const item = this.#itemAt(at, given['type']);
    if (item.type === 'message') this.#phase = replyPhaseSchema.safeParse(given['phase']).data ?? this.#phase;
    if (item.type !== 'function_call') return item;
    this.#context.sink.began?.();
    if (typeof given['call_id'] === 'string') item.id = given['call_id'];
    if (typeof given['name'] === 'string') item.tool = given['name'];
    return item;
  }

  /** Reads the parts that did not arrive in pieces. */
  #complete(at: number, given: unknown): void {
    const item = this.#begin(at, given);
    if (item === null || !isPlainObject(given)) return;
    if (item.type === 'reasoning') {
      const { summary = [], encrypted_content: sealed } = given;
      if (typeof sealed === 'string' && sealed !== '')
        item.sealed = JSON.stringify({ type: 'reasoning', summary, encrypted_content: sealed });
      if (!item.hasPieces) this.#thoughtsOf(given);
    } else if (!item.hasPieces && item.type === 'function_call') {
      this.#arguments(at, argsText(given['arguments']));
    } else if (!item.hasPieces && item.type === 'message') {
      for (const part of partsOf(given['content'])) {
        this.#words(at, part['text']);
        this.#refuse(at, part['refusal']);
      }
    }
  }

  #thoughtsOf(item: Part): void {
    for (const part of [...partsOf(item['summary']), ...partsOf(item['content'])]) this.#said.addReasoning(part['text']);
  }

  #words(at: number, delta: unknown): void {
    if (typeof delta !== 'string' || delta === '') return;
    const item = this.#itemAt(at, 'message');
    if (!item.hasPieces) this.#said.endParagraph();
    item.hasPieces = true;
    this.#said.addText(delta);
  }

  #refuse(at: number, delta: unknown): void {
    this.#hasRefused ||= typeof delta === 'string' && delta !== '';
    this.#words(at, delta);
  }

  #arguments(at: number, delta: unknown): void {
    if (typeof delta !== 'string' || delta === '') return;
    const item = this.#itemAt(at, 'function_call');
    item.hasPieces = true;
    item.args += this.#said.argumentsOf(delta);
  }

  #close(response: Part): void {
    const { status, error, incomplete_details: details, output, usage } = response;
    if (isPlainObject(error)) throw this.#context.mapError({ error });
    if (status === 'failed' || status === 'cancelled') throw cutOff(this.#context.provider);
    const items: unknown[] = Array.isArray(output) ? output : [];
    items.forEach((item, at) => !this.#items.has(at) && this.#complete(at, item));
    if (isPlainObject(usage)) this.#usage = readUsage(usage);
    const reason = isPlainObject(details) ? String(details['reason']) : '';
    this.#end = status === 'incomplete' ? (incomplete[reason] ?? 'other') : 'stop';
    this.#context.sink.ended?.();
  }
}

function partsOf(value: unknown): Part[] {
  return Array.isArray(value) ? (value as unknown[]).filter(isPlainObject) : [];
}
