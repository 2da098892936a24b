// Formats answers for /v1/chat/completions: one JSON object, or chunks as server-sent events. Client libraries need `index` and `role` in
// the first chunk, `index` and `type` in every call, and a last chunk with a finish reason.

import type { DoorReply } from '../../contracts/door-route.ts';
import type { ReplyCall, Usage } from '../../contracts/llm.ts';
import type { Answer, Asked, AnswerWriter } from './asked.ts';

export interface ReplyHead {
  readonly reply: DoorReply;
  readonly asked: Asked;
  /** Seconds since the Unix epoch. */
  readonly created: number;
  /** The id of the turn, or of the request if there is no turn. Known once the answer begins. */
  readonly id: () => string;
}

export function chatWriter(head: ReplyHead): AnswerWriter {
  return head.asked.stream ? new ChatStream(head) : new WholeReply(head, chatOf);
}

function usageOf({ inputTokens, outputTokens, cachedInputTokens }: Usage): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

function callOf({ id, tool, args }: ReplyCall): object {
  return { id, type: 'function', function: { name: tool, arguments: args } };
}

function chatOf({ asked, created, id }: ReplyHead, { text, calls, usage, endReason }: Answer): object {
  const content = text === '' && calls.length > 0 ? null : text;
  const message = { role: 'assistant', content, refusal: null, ...(calls.length === 0 ? {} : { tool_calls: calls.map(callOf) }) };
  const choice = { index: 0, message, logprobs: null, finish_reason: endReason };
  const head = { id: `chatcmpl-${id()}`, object: 'chat.completion', created, model: asked.model };
  return { ...head, choices: [choice], usage: usageOf(usage) };
}

/** A reply that is sent in one piece, at its end. */
export class WholeReply implements AnswerWriter {
  readonly #head: ReplyHead;
  readonly #bodyOf: (head: ReplyHead, answer: Answer) => object;
  #headers: Readonly<Record<string, string>> = {};

  constructor(head: ReplyHead, bodyOf: (head: ReplyHead, answer: Answer) => object) {
    this.#head = head;
    this.#bodyOf = bodyOf;
  }

  begin(headers: Readonly<Record<string, string>>): void {
    this.#headers = headers;
  }

  text(): void {
    // The whole text is sent at the end.
  }

  alive(): void {
    // An open connection is enough.
  }

  finish(answer: Answer): void {
    this.#head.reply.send(200, this.#bodyOf(this.#head, answer), this.#headers);
  }
}

class ChatStream implements AnswerWriter {
  readonly #head: ReplyHead;
  #hasText = false;

  constructor(head: ReplyHead) {
    this.#head = head;
  }

  begin(headers: Readonly<Record<string, string>>): void {
    this.#head.reply.begin('text/event-stream; charset=utf-8', headers);
    this.#chunk({ role: 'assistant', content: '' });
  }

  text(delta: string): void {
    this.#hasText = true;
    this.#chunk({ content: delta });
  }

  alive(note: string): void {
    this.#head.reply.write(commentOf(note));
  }

  finish({ text, calls, usage, endReason }: Answer): void {
    const { reply, asked } = this.#head;
    if (!this.#hasText && text !== '') this.#chunk({ content: text });
    if (calls.length > 0) this.#chunk({ tool_calls: calls.map((call, index) => ({ index, ...callOf(call) })) });
    this.#chunk({}, endReason);
    if (asked.includeUsage) this.#write({ choices: [], usage: usageOf(usage) });
    reply.write('data: [DONE]\n\n');
    reply.end();
  }

  #chunk(delta: object, finishReason: string | null = null): void {
    const { includeUsage } = this.#head.asked;
    const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason };
    this.#write({ choices: [choice], ...(includeUsage ? { usage: null } : {}) });
  }

  #write(more: object): void {
    const { reply, asked, created, id } = this.#head;
    const base = { id: `chatcmpl-${id()}`, object: 'chat.completion.chunk', created, model: asked.model };
    reply.write(`data: ${JSON.stringify({ ...base, ...more })}\n\n`);
  }
}

/** Formats a server-sent comment. It must be a single line; readers of the stream skip it. */
export function commentOf(note: string): string {
  return `: ${note.replaceAll(/[\r\n]+/g, ' ').slice(0, 300)}\n\n`;
}
