// Parses server-sent events from text chunks according to the WHATWG HTML standard, section 9.2.6 (September 2025). Pure parsing, no
// network.

import { TextLines } from './text-lines.ts';

export interface StreamMessage {
  /** The event field, or `message` if the server sent none. */
  readonly event: string;
  readonly data: string;
}

export interface StreamSink {
  message(message: StreamMessage): void;
  /** Called when the last event id changed, with or without data. */
  id?(id: string): void;
}

export class EventStreamParser {
  readonly #sink: StreamSink;
  readonly #charsMax: number;
  readonly #tooLong: () => Error;
  readonly #lines: TextLines;
  #event = '';
  #data: string[] = [];
  #dataChars = 0;

  /** `push` throws the error for a line or a message of more than `charsMax` characters, which indicates a broken server. */
  constructor(sink: StreamSink, charsMax: number, tooLong = (): Error => new RangeError('a line of the event stream is too long')) {
    this.#sink = sink;
    this.#charsMax = charsMax;
    this.#tooLong = tooLong;
    this.#lines = new TextLines(charsMax, tooLong);
  }

  /** Feeds a chunk, which may end anywhere, even between CR and LF. */
  push(chunk: string): void {
    for (const line of this.#lines.push(chunk)) this.#line(line);
  }

  /** Marks the end of the text. More tolerant than the standard: a message without its final blank line still counts. */
  end(): void {
    this.#line(this.#lines.end());
    this.#dispatch();
  }

  #line(line: string): void {
    if (line === '') {
      this.#dispatch();
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const field = colon === -1 ? line : line.slice(0, colon);
    const raw = colon === -1 ? '' : line.slice(colon + 1);
    const value = raw.startsWith(' ') ? raw.slice(1) : raw;
    if (field === 'event') this.#event = value;
    else if (field === 'data') this.#addData(value);
    else if (field === 'id' && !value.includes('\0')) this.#sink.id?.(value);
  }

  #addData(value: string): void {
    this.#dataChars += value.length;
    if (this.#dataChars > this.#charsMax) throw this.#tooLong();
    this.#data.push(value);
  }

  #dispatch(): void {
    const event = this.#event || 'message';
    const data = this.#data;
    this.#event = '';
    this.#data = [];
    this.#dataChars = 0;
    if (data.length > 0) this.#sink.message({ event, data: data.join('\n') });
  }
}
