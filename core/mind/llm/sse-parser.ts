// The parsers of streamed answers, from raw bytes, split anywhere: server-sent events, or one JSON document per line (NDJSON). Bounded. Know
// nothing about the documents.

import { EventStreamParser } from '../../base/event-stream.ts';
import { TextLines } from '../../base/text-lines.ts';
import { AppError } from '../../contracts/errors.ts';

const LINE_CHARS_MAX = 8 * 1024 * 1024;

export interface SseHandler {
  /** `event` is `message` if the stream named none. Returns true if no further events are wanted. */
  event(data: string, event: string): boolean;
}

/** `push` throws `model_bad_reply` if a line is too long. Both methods return true once the handler is done. */
export interface StreamParser {
  push(chunk: Buffer): boolean;
  /** Marks the end of the bytes: the rest is the last event. */
  end(): boolean;
}

export class SseParser implements StreamParser {
  readonly #decoder = new TextDecoder();
  readonly #parser: EventStreamParser;
  #isDone = false;

  constructor(handler: SseHandler, charsMax: number = LINE_CHARS_MAX) {
    const message = ({ data, event }: { readonly data: string; readonly event: string }): void => {
      if (!this.#isDone) this.#isDone = handler.event(data, event);
    };
    this.#parser = new EventStreamParser({ message }, charsMax, () => tooLong(charsMax));
  }

  push(chunk: Buffer): boolean {
    if (!this.#isDone) this.#parser.push(this.#decoder.decode(chunk, { stream: true }));
    return this.#isDone;
  }

  end(): boolean {
    if (this.#isDone) return true;
    this.#parser.push(this.#decoder.decode());
    this.#parser.end();
    return this.#isDone;
  }
}

export class LineParser implements StreamParser {
  readonly #decoder = new TextDecoder();
  readonly #lines = new TextLines(LINE_CHARS_MAX, () => tooLong(LINE_CHARS_MAX));
  readonly #handler: SseHandler;
  #isDone = false;

  constructor(handler: SseHandler) {
    this.#handler = handler;
  }

  push(chunk: Buffer): boolean {
    if (!this.#isDone) for (const line of this.#lines.push(this.#decoder.decode(chunk, { stream: true }))) this.#line(line);
    return this.#isDone;
  }

  end(): boolean {
    this.#line(this.#lines.end() + this.#decoder.decode());
    return this.#isDone;
  }

  #line(line: string): void {
    const text = line.trim();
    if (!this.#isDone && text !== '') this.#isDone = this.#handler.event(text, 'message');
  }
}

function tooLong(charsMax: number): AppError {
  return new AppError('model_bad_reply', `The model server sent a line of more than ${charsMax} characters.`);
}
