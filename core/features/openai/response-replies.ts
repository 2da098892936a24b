// Formats answers for /v1/responses: one JSON object, or the API's events in order, each with its sequence number.

import type { ReplyCall, Usage } from '../../contracts/llm.ts';
import type { Answer, AnswerWriter } from './asked.ts';
import { commentOf, WholeReply, type ReplyHead } from './chat-replies.ts';
import type { GivenItem } from './given-items.ts';
import type { VendorError } from './vendor-error.ts';

type Keep = (items: readonly GivenItem[]) => void;

export interface ResponseWriter extends AnswerWriter {
  /** Ends a stream that has begun: some clients read the failed response, others the error after it. */
  fail?(error: VendorError['body']['error']): void;
}

/** `keep` receives the items of the answer before the program has all of it. */
export function responseWriter(head: ReplyHead, keep: Keep): ResponseWriter {
  if (head.asked.stream) return new ResponseStream(head, keep);
  return new WholeReply(head, (_, answer) => {
    keep(givenOf(head.id(), answer));
    return finished(head, answer, itemsOf(head.id(), answer));
  });
}

type Item = ReturnType<typeof messageItem> | ReturnType<typeof callItem>;

function partOf(text: string) {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

function messageIdOf(id: string): string {
  return `msg_${id}`;
}

type ItemStatus = 'completed' | 'incomplete';

function messageItem(id: string, text: string, status: ItemStatus) {
  return { type: 'message', id: messageIdOf(id), role: 'assistant', status, content: [partOf(text)] };
}

function callItem(id: string, { id: callId, tool, args }: ReplyCall, at: number) {
  return { type: 'function_call', id: `fc_${id}_${at}`, call_id: callId, name: tool, arguments: args, status: 'completed' };
}

function givenOf(id: string, answer: Answer): GivenItem[] {
  const said = answer.text === '' ? [] : [{ id: messageIdOf(id), text: answer.text }];
  return [...said, ...answer.calls.map((call, at) => ({ id: callItem(id, call, at).id, call }))];
}

function usageOf({ inputTokens, outputTokens, cachedInputTokens }: Usage): object {
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    input_tokens_details: { cached_tokens: cachedInputTokens, cache_write_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
}

/** The fields that client libraries read from every response. */
function responseOf({ asked, created, id }: ReplyHead): Record<string, unknown> {
  const { model, instructions, maxOutputTokens, previous, tools } = asked;
  return {
    id: `resp_${id()}`,
    object: 'response',
    created_at: created,
    model,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: instructions === '' ? null : instructions,
    max_output_tokens: maxOutputTokens,
    metadata: {},
    output: [],
    parallel_tool_calls: true,
    previous_response_id: previous,
    reasoning: { effort: null, summary: null },
    store: asked.isForgotten !== true,
    temperature: null,
    text: { format: asked.format },
    tool_choice: 'auto',
    tools: tools.map(({ name, description, parameters }) => ({ type: 'function', name, description, parameters, strict: false })),
    top_p: null,
    truncation: 'disabled',
    usage: null,
  };
}

function finished(head: ReplyHead, answer: Answer, output: readonly Item[]): Record<string, unknown> {
  const { endReason, usage } = answer;
  const reason = endReason === 'length' ? 'max_output_tokens' : 'content_filter';
  const status = statusOf(answer);
  return { ...responseOf(head), status, incomplete_details: status === 'incomplete' ? { reason } : null, output, usage: usageOf(usage) };
}

function statusOf({ endReason }: Answer): ItemStatus {
  return endReason === 'length' || endReason === 'content_filter' ? 'incomplete' : 'completed';
}

function itemsOf(id: string, answer: Answer): Item[] {
  const { text, calls } = answer;
  const said = text === '' && calls.length > 0 ? [] : [messageItem(id, text, statusOf(answer))];
  return [...said, ...calls.map((call, at) => callItem(id, call, at))];
}

class ResponseStream implements ResponseWriter {
  readonly #head: ReplyHead;
  readonly #keep: Keep;
  #sequence = 0;
  #text: string | null = null;

  constructor(head: ReplyHead, keep: Keep) {
    this.#head = head;
    this.#keep = keep;
  }

  begin(headers: Readonly<Record<string, string>>): void {
    this.#head.reply.begin('text/event-stream; charset=utf-8', headers);
    this.#event('response.created', { response: responseOf(this.#head) });
    this.#event('response.in_progress', { response: responseOf(this.#head) });
  }

  text(delta: string): void {
    this.#openMessage();
    this.#text += delta;
    this.#event('response.output_text.delta', { ...this.#place(), delta, logprobs: [] });
  }

  alive(note: string): void {
    this.#head.reply.write(commentOf(note));
  }

  finish(answer: Answer): void {
    if (answer.text !== '' || answer.calls.length === 0) {
      this.#openMessage();
      if (this.#text === '' && answer.text !== '') this.text(answer.text);
    }
    // The message is the streamed text, which may contain more than the final text of the turn.
    const whole = this.#text === null ? answer : { ...answer, text: this.#text };
    const items = itemsOf(this.#head.id(), whole);
    this.#keep(givenOf(this.#head.id(), whole));
    if (this.#text !== null) this.#closeMessage(this.#text, statusOf(answer));
    for (const [at, item] of items.entries()) if (item.type === 'function_call') this.#call(item as ReturnType<typeof callItem>, at);
    const response = finished(this.#head, whole, items);
    this.#event(response['status'] === 'incomplete' ? 'response.incomplete' : 'response.completed', { response });
    this.#head.reply.end();
  }

  fail(error: VendorError['body']['error']): void {
    const { code, message, param } = error;
    const response = { ...responseOf(this.#head), status: 'failed', error: { code: code ?? 'server_error', message } };
    this.#event('response.failed', { response });
    this.#event('error', { code, message, param, error });
    this.#head.reply.end();
  }

  #openMessage(): void {
    if (this.#text !== null) return;
    this.#text = '';
    const item = { ...messageItem(this.#head.id(), '', 'completed'), status: 'in_progress', content: [] };
    this.#event('response.output_item.added', { output_index: 0, item });
    this.#event('response.content_part.added', { ...this.#place(), part: partOf('') });
  }

  #closeMessage(text: string, status: ItemStatus): void {
    this.#event('response.output_text.done', { ...this.#place(), text, logprobs: [] });
    this.#event('response.content_part.done', { ...this.#place(), part: partOf(text) });
    this.#event('response.output_item.done', { output_index: 0, item: messageItem(this.#head.id(), text, status) });
  }

  #call(item: ReturnType<typeof callItem>, at: number): void {
    const place = { item_id: item.id, output_index: at };
    this.#event('response.output_item.added', { output_index: at, item: { ...item, arguments: '', status: 'in_progress' } });
    this.#event('response.function_call_arguments.delta', { ...place, delta: item.arguments });
    this.#event('response.function_call_arguments.done', { ...place, name: item.name, arguments: item.arguments });
    this.#event('response.output_item.done', { output_index: at, item });
  }

  #place(): object {
    return { item_id: messageIdOf(this.#head.id()), output_index: 0, content_index: 0 };
  }

  #event(type: string, more: object): void {
    this.#head.reply.write(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#sequence++, ...more })}\n\n`);
  }
}
