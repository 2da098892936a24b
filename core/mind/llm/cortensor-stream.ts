// Reads one streamed answer of a Cortensor router. Several miners may write into one stream: the first task seen provides the answer, and
// the output of other tasks is dropped. A router that does not stream answers with one JSON document, which is kept whole.

import type { IncomingHttpHeaders } from 'node:http';
import { isPlainObject, parseJson } from '../../base/json.ts';
import { AppError } from '../../contracts/errors.ts';
import type { FinishReason, Usage } from '../../contracts/llm.ts';
import { usageOf } from './cortensor-answers.ts';
import type { ResponseReader } from './http-transport.ts';
import { SseParser } from './sse-parser.ts';

const WHOLE_BYTES_MAX = 8 * 1024 * 1024;

export interface StreamedAnswer {
  readonly status: number;
  /** The document received instead of a stream; null for a stream. */
  readonly whole: unknown;
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly usage: Usage | null;
}

export class CortensorStream implements ResponseReader {
  readonly #provider: string;
  readonly #say: (text: string) => void;
  readonly #parser = new SseParser({ event: (data) => this.#event(data) });
  readonly #parts: Buffer[] = [];
  #sizeBytes = 0;
  #status = 0;
  #isStream = false;
  #task: string | null = null;
  #text = '';
  #finish: FinishReason | null = null;
  #isDone = false;
  #usage: Usage | null = null;

  constructor(provider: string, say: (text: string) => void) {
    this.#provider = provider;
    this.#say = say;
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#isStream = status < 400 && (headers['content-type'] ?? '').includes('text/event-stream');
  }

  data(chunk: Buffer): boolean {
    if (this.#isStream) return this.#parser.push(chunk);
    this.#sizeBytes += chunk.length;
    if (this.#sizeBytes > WHOLE_BYTES_MAX) throw this.#bad('answered with more than fits');
    this.#parts.push(chunk);
    return false;
  }

  end(): void {
    if (this.#isStream) this.#parser.end();
  }

  /** Call it once the exchange is over. Fails with `model_bad_reply` for a stream without an end. */
  read(): StreamedAnswer {
    if (this.#isStream) {
      if (!this.#isDone && this.#finish === null) throw this.#bad('broke off in the middle of its answer');
      return { status: this.#status, whole: null, text: this.#text, finishReason: this.#finish ?? 'stop', usage: this.#usage };
    }
    const text = Buffer.concat(this.#parts).toString('utf8');
    const parsed = parseJson(text);
    if (!parsed.ok && this.#status < 400) throw this.#bad('answered with something that is not JSON');
    return {
      status: this.#status,
      whole: parsed.ok ? parsed.value : { message: text.slice(0, 500) },
      text: '',
      finishReason: 'stop',
      usage: null,
    };
  }

  #event(data: string): boolean {
    if (data === '[DONE]') {
      this.#isDone = true;
      return true;
    }
    const parsed = parseJson(data);
    if (!parsed.ok || !isPlainObject(parsed.value)) return false;
    const chunk = parsed.value;
    const task = taskIn(chunk);
    this.#task ??= task;
    if (task !== null && task !== this.#task) return false;
    const choices: unknown = chunk['choices'];
    const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
    const choice = isPlainObject(first) ? first : {};
    const piece = choice['text'] ?? chunk['content'];
    if (typeof piece === 'string' && piece !== '') {
      this.#text += piece;
      this.#say(piece);
    }
    if (typeof choice['finish_reason'] === 'string') this.#finish = choice['finish_reason'] === 'length' ? 'length' : 'stop';
    this.#usage ??= usageOf(chunk);
    return false;
  }

  #bad(what: string): AppError {
    return new AppError('model_bad_reply', `${this.#provider} ${what}.`, { data: { provider: this.#provider } });
  }
}

function taskIn({ task_id: taskId, id }: Record<string, unknown>): string | null {
  const named = taskId ?? id;
  return typeof named === 'string' || typeof named === 'number' ? String(named) : null;
}
