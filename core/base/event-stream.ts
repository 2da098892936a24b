// Parses server-sent events from text chunks according to the WHATWG HTML standard, section 9.2.6 (September 2025). Pure parsing, no
// network.

export interface StreamMessage {
  /** The event field, or `message` if the server sent none. */
  readonly event: string;
  readonly data: string;
}

export interface StreamSink {
  message(message: StreamMessage): void;
  /** Called when the last event id changed, with or without data. */
  id(id: string): void;
}

export class EventStreamParser {
  readonly #sink: StreamSink;
  readonly #lineCharsMax: number;
  #rest = '';
  #event = '';
  #data: string[] = [];

  /** A line longer than `lineCharsMax` indicates a broken server. */
  constructor(sink: StreamSink, lineCharsMax: number) {
    this.#sink = sink;
    this.#lineCharsMax = lineCharsMax;
  }

  /** Feeds a chunk, which may end anywhere, even between CR and LF. Throws a RangeError for an endless line. */
  push(chunk: string): void {
    let text = this.#rest + chunk;
    // A CR at the very end may be half of a CRLF, so it waits for the next chunk.
    const held = text.endsWith('\r') ? '\r' : '';
    if (held) text = text.slice(0, -1);
    const lines = text.split(/\r\n|\n|\r/);
    this.#rest = (lines.pop() ?? '') + held;
    if (this.#rest.length > this.#lineCharsMax) throw new RangeError('a line of the event stream is too long');
    for (const line of lines) this.#line(line);
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
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.#sink.id(value);
  }

  #dispatch(): void {
    const event = this.#event || 'message';
    const data = this.#data;
    this.#event = '';
    this.#data = [];
    if (data.length > 0) this.#sink.message({ event, data: data.join('\n') });
  }
}
