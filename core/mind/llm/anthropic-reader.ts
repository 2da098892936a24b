// Reads an Anthropic messages answer, streamed or whole. Source: Anthropic API reference, streaming messages, version 2023-06-01. Must not
// decide what a vendor's error means; anthropic-errors.ts does that.

import { isPlainObject, parseJson } from '../../base/json.ts';
import type { FinishReason, Usage } from '../../contracts/llm.ts';
import { blocksBeforeCalls } from './kept-of-call.ts';
import type { ReaderContext } from './openai-reader.ts';
import { argsText, badReply, count, cutOff, ReplyText, type RawReply, type ReplyReader } from './reply-reader.ts';

interface Block {
  readonly index: number | null;
  readonly type: string;
  id: string;
  name: string;
  /** The arguments from the block's start; used only if no pieces followed. */
  readonly startInput: unknown;
  pieces: string;
  thinking: string;
  signature: string;
  readonly redacted: string;
}

const stopReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

const eventTypes: ReadonlySet<string> = new Set(
  'message_start content_block_start content_block_delta content_block_stop message_delta message_stop ping'.split(' '),
);

export class AnthropicReader implements ReplyReader {
  readonly #context: ReaderContext;
  readonly #said: ReplyText;
  readonly #blocks: Block[] = [];
  #usage: Record<string, unknown> | null = null;
  #finish: FinishReason | null = null;
  #isDone = false;
  /** True once an event of this format has arrived. */
  #isKnown = false;

  constructor(context: ReaderContext) {
    this.#context = context;
    this.#said = new ReplyText(context.provider, context.sink);
  }

  event(data: string, event: string): boolean {
    if (data.startsWith('[DONE]')) return (this.#isDone = true);
    const parsed = parseJson(data);
    if (!parsed.ok && event === 'error') throw this.#context.mapError(data);
    if (!parsed.ok || !isPlainObject(parsed.value)) throw badReply(this.#context.provider, parsed.ok ? undefined : parsed.error);
    this.#take(typeof parsed.value['type'] === 'string' ? parsed.value['type'] : event, parsed.value);
    return this.#isDone;
  }

  whole(document: unknown): void {
    if (!isPlainObject(document)) throw badReply(this.#context.provider);
    if (document['type'] === 'error' || document['error'] !== undefined) throw this.#context.mapError(document);
    if (!Array.isArray(document['content'])) throw badReply(this.#context.provider);
    this.#isKnown = true;
    this.#addUsage(document['usage']);
    (document['content'] as unknown[]).forEach((block, index) => this.#openBlock(index, block));
    this.#setFinish(document['stop_reason']);
    this.#isDone = true;
  }

  /** For each call, in order: the signed thinking blocks since the previous call, and the position of the text. */
  beforeCalls(): string[][] {
    const parts = this.#blocks.map((block) => ({ type: block.type, sealed: sealedText(block) }));
    return blocksBeforeCalls(parts, { text: 'text', call: 'tool_use' });
  }

  finish(): RawReply {
    if (!this.#isKnown) throw badReply(this.#context.provider);
    if (this.#finish === null && !this.#isDone) throw cutOff(this.#context.provider);
    const calls = this.#blocks
      .filter((block) => block.type === 'tool_use')
      .map((block) => ({
        id: block.id,
        tool: block.name,
        args: block.pieces === '' ? this.#said.argumentsOf(this.#startArgs(block)) : block.pieces,
      }));
    const given = this.#finish ?? 'stop';
    const finishReason = calls.length > 0 && (given === 'stop' || given === 'other') ? 'tool_calls' : given;
    return { text: this.#said.text, reasoning: this.#said.reasoning, calls, usage: this.#readUsage(), finishReason };
  }

  #take(type: string, event: Record<string, unknown>): void {
    this.#isKnown ||= eventTypes.has(type);
    switch (type) {
      case 'message_start':
        // A proxy repeated the request within its own stream; the parts of two answers must not be mixed.
        if (this.#blocks.length > 0) throw cutOff(this.#context.provider);
        if (isPlainObject(event['message'])) this.#addUsage(event['message']['usage']);
        return;
      case 'content_block_start':
        this.#openBlock(event['index'], event['content_block']);
        return;
      case 'content_block_delta':
        if (isPlainObject(event['delta'])) this.#delta(event['index'], event['delta']);
        return;
      case 'message_delta':
        this.#addUsage(event['usage']);
        if (isPlainObject(event['delta'])) this.#setFinish(event['delta']['stop_reason']);
        return;
      case 'message_stop':
        this.#isDone = true;
        return;
      case 'error':
        throw this.#context.mapError(event);
      default:
        // Pings, block ends and unknown events are ignored. A gateway's own error has no type.
        if (event['error'] !== undefined && event['error'] !== null) throw this.#context.mapError(event);
    }
  }

  #openBlock(index: unknown, block: unknown): void {
    if (!isPlainObject(block)) return;
    const type = text(block['type']);
    const id = text(block['id']);
    const repeated = this.#blocks.findIndex((one) => id !== '' && one.id === id && one.index === index && one.pieces === '');
    if (repeated >= 0) this.#blocks.splice(repeated, 1);
    this.#blocks.push({
      index: typeof index === 'number' ? index : null,
      type,
      id,
      name: text(block['name']),
      startInput: block['input'],
      pieces: '',
      thinking: text(block['thinking']),
      signature: text(block['signature']),
      redacted: type === 'redacted_thinking' ? text(block['data']) : '',
    });
    if (type === 'tool_use') this.#context.sink.began?.();
    // The vendor splits text at citations, so text directly after text continues it.
    if (type !== 'text') this.#said.endParagraph();
    this.#said.addText(type === 'text' ? block['text'] : '');
    this.#said.addReasoning(block['thinking']);
  }

  #delta(index: unknown, delta: Record<string, unknown>): void {
    this.#said.addText(delta['text']);
    this.#said.addReasoning(delta['thinking']);
    const block = this.#blocks.findLast((one) => one.index === index) ?? this.#blocks[this.#blocks.length - 1];
    const piece = argsText(delta['partial_json']);
    // The start of this call was lost, and with it the name of the tool.
    if (piece !== '' && !(block?.type ?? '').endsWith('_use')) throw cutOff(this.#context.provider);
    if (block === undefined) return;
    block.thinking += text(delta['thinking']);
    block.signature += text(delta['signature']);
    block.pieces += this.#said.argumentsOf(piece);
  }

  #setFinish(reason: unknown): void {
    if (typeof reason !== 'string') return;
    this.#finish = stopReasons[reason] ?? 'other';
    this.#context.sink.ended?.();
  }

  /**
   * Counts are cumulative, so a later count replaces an earlier one. Absent counts, and the zeros of servers that do not count, are
   * ignored.
   */
  #addUsage(usage: unknown): void {
    if (!isPlainObject(usage)) return;
    const known = Object.entries(usage).filter(([, value]) => count(value) > 0);
    this.#usage = { ...this.#usage, ...Object.fromEntries(known) };
  }

  /** Every streamed call begins with an empty object. At the length limit that object is not taken for the arguments. */
  #startArgs({ startInput }: Block): string {
    const isEmpty = isPlainObject(startInput) && Object.keys(startInput).length === 0;
    return isEmpty && this.#finish === 'length' ? '' : argsText(startInput);
  }

  /** The vendor's `input_tokens` excludes tokens read from or written to the cache; ours counts all input. */
  #readUsage(): Usage | null {
    if (this.#usage === null) return null;
    const cached = count(this.#usage['cache_read_input_tokens']);
    const written = count(this.#usage['cache_creation_input_tokens']);
    const inputTokens = count(this.#usage['input_tokens']) + cached + written;
    if (inputTokens === 0) return null;
    return { inputTokens, outputTokens: count(this.#usage['output_tokens']), cachedInputTokens: cached };
  }
}

/** The JSON text of a thinking block that carries the vendor's signature; '' for any other block. */
function sealedText({ type, thinking, signature, redacted }: Block): string {
  if (redacted !== '') return JSON.stringify({ type: 'redacted_thinking', data: redacted });
  return type !== 'thinking' || signature === '' ? '' : JSON.stringify({ type, thinking, signature });
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
