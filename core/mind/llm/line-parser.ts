// Parses lines of JSON (NDJSON) from raw bytes, split anywhere. Bounded; does not interpret the lines.

import { AppError } from '../../contracts/errors.ts';
import { lineBytesMax, type SseHandler } from './sse-parser.ts';

const LF = 10;

export class LineParser {
  readonly #handler: SseHandler;
  #carry: Buffer[] = [];
  #carryBytes = 0;
  #isDone = false;

  constructor(handler: SseHandler) {
    this.#handler = handler;
  }

  /** Feeds bytes. Returns true once the handler is done. Throws `model_bad_reply` if a line is too long. */
  push(chunk: Buffer): boolean {
    let from = 0;
    for (let at = chunk.indexOf(LF); at !== -1 && !this.#isDone; at = chunk.indexOf(LF, from)) {
      this.#keep(chunk.subarray(from, at));
      this.#line();
      from = at + 1;
    }
    if (!this.#isDone) this.#keep(chunk.subarray(from));
    return this.#isDone;
  }

  /** Marks the end of the bytes: the rest is the last line. */
  end(): boolean {
    if (!this.#isDone) this.#line();
    return this.#isDone;
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#carryBytes += bytes.length;
    if (this.#carryBytes > lineBytesMax) {
      throw new AppError('model_bad_reply', `The model server sent a line of more than ${lineBytesMax} bytes.`);
    }
    this.#carry.push(bytes);
  }

  #line(): void {
    const line = Buffer.concat(this.#carry).toString('utf8').trim();
    this.#carry = [];
    this.#carryBytes = 0;
    if (line !== '') this.#isDone = this.#handler.event(line, '');
  }
}
