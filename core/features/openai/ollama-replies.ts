// Formats answers for Ollama's API: one JSON object, or one line per piece. Reports only the duration of the whole answer, because no other
// is known.

import { objectIn } from '../../base/json.ts';
import type { DoorReply } from '../../contracts/door-route.ts';
import type { AppError } from '../../contracts/errors.ts';
import type { ReplyCall } from '../../contracts/llm.ts';
import type { Answer, AnswerWriter } from './asked.ts';
import type { ReplyHead } from './chat-replies.ts';
import { vendorError } from './vendor-error.ts';

const NS_PER_MS = 1_000_000;

/** The fields in which each endpoint sends its text. */
type Piece = (text: string, calls: readonly ReplyCall[]) => object;

const chatPiece: Piece = (text, calls) => ({
  message: { role: 'assistant', content: text, ...(calls.length === 0 ? {} : { tool_calls: calls.map(callOf) }) },
});
const generatePiece: Piece = (text) => ({ response: text });

function callOf({ tool, args }: ReplyCall): object {
  return { function: { name: tool, arguments: objectIn(args) ?? {} } };
}

export function ollamaWriter(
  kind: 'chat' | 'generate',
  clock: { nowMs(): number; monotonicMs(): number },
): (head: ReplyHead) => AnswerWriter {
  const piece = kind === 'chat' ? chatPiece : generatePiece;
  return (head) => new OllamaWriter(head, piece, clock);
}

/** Answers a request without a message, which clients send to load a model. */
export function sendLoaded(reply: DoorReply, kind: 'chat' | 'generate', model: string, nowMs: number): void {
  const piece = (kind === 'chat' ? chatPiece : generatePiece)('', []);
  reply.send(200, { model, created_at: new Date(nowMs).toISOString(), ...piece, done: true, done_reason: 'load' });
}

class OllamaWriter implements AnswerWriter {
  readonly #head: ReplyHead;
  readonly #piece: Piece;
  readonly #clock: { nowMs(): number; monotonicMs(): number };
  readonly #startedMs: number;
  #headers: Readonly<Record<string, string>> = {};
  #hasText = false;

  constructor(head: ReplyHead, piece: Piece, clock: { nowMs(): number; monotonicMs(): number }) {
    this.#head = head;
    this.#piece = piece;
    this.#clock = clock;
    this.#startedMs = clock.monotonicMs();
  }

  begin(headers: Readonly<Record<string, string>>): void {
    this.#headers = headers;
    if (this.#head.asked.stream) this.#head.reply.begin('application/x-ndjson', headers);
  }

  text(delta: string): void {
    this.#hasText = true;
    this.#line({ ...this.#piece(delta, []), done: false });
  }

  /** This format has no comments, so a piece without text shows that the connection is alive. */
  alive(): void {
    if (this.#head.asked.stream) this.#line({ ...this.#piece('', []), done: false });
  }

  finish({ text, calls, usage, endReason }: Answer): void {
    const { reply, asked } = this.#head;
    const tookNs = Math.round((this.#clock.monotonicMs() - this.#startedMs) * NS_PER_MS);
    const end = {
      done: true,
      done_reason: endReason === 'length' ? 'length' : 'stop',
      total_duration: tookNs,
      load_duration: 0,
      prompt_eval_count: usage.inputTokens,
      prompt_eval_duration: 0,
      eval_count: usage.outputTokens,
      eval_duration: tookNs,
    };
    if (!asked.stream) {
      reply.send(200, { ...this.#base(), ...this.#piece(text, calls), ...end }, this.#headers);
      return;
    }
    if ((!this.#hasText && text !== '') || calls.length > 0) this.#line({ ...this.#piece(this.#hasText ? '' : text, calls), done: false });
    this.#line({ ...this.#piece('', []), ...end });
    reply.end();
  }

  #base(): object {
    return { model: this.#head.asked.model, created_at: new Date(this.#clock.nowMs()).toISOString() };
  }

  #line(more: object): void {
    this.#head.reply.write(`${JSON.stringify({ ...this.#base(), ...more })}\n`);
  }
}

/** Once a stream has begun, the error is sent as its last line, which client libraries throw. */
export function sendOllamaError(reply: DoorReply, error: AppError): void {
  const { status, body, headers } = vendorError(error);
  const told = { error: body.error.message };
  if (reply.isUnsent) {
    reply.send(status, told, headers);
    return;
  }
  reply.write(`${JSON.stringify(told)}\n`);
  reply.end();
}
