// Parses server-sent events from raw bytes, split anywhere (WHATWG HTML §9.2, event stream interpretation). More tolerant than the standard
// in one point: an event without its final blank line still counts at the end. Knows nothing about JSON or vendors.

import { AppError } from '../../contracts/errors.ts';

export const lineBytesMax = 8 * 1024 * 1024;

const LF = 10;
const CR = 13;
const COLON = 58;
const SPACE = 32;

export interface SseHandler {
  /** `event` is '' if the stream named none. Returns true if no further events are wanted. */
  event(data: string, event: string): boolean;
}

export class SseParser {
  readonly #handler: SseHandler;
  readonly #lineBytesMax: number;
  #carry: Buffer[] = [];
  #carryBytes = 0;
  #skipLf = false;
  #firstLine = true;
  #data: string | null = null;
  #event = '';
  #isDone = false;

  constructor(handler: SseHandler, maxLineBytes: number = lineBytesMax) {
    this.#handler = handler;
    this.#lineBytesMax = maxLineBytes;
  }

  /** Feeds bytes. Returns true once the handler is done. Throws `model_bad_reply` if a line is too long. */
  push(chunk: Buffer): boolean {
    let at = this.#skipLf && chunk[0] === LF ? 1 : 0;
    if (chunk.length > 0) this.#skipLf = false;
    let nextCr = chunk.indexOf(CR, at);
    while (at < chunk.length && !this.#isDone) {
      if (nextCr !== -1 && nextCr < at) nextCr = chunk.indexOf(CR, at);
      const lineEnd = earlier(chunk.indexOf(LF, at), nextCr);
      if (lineEnd === -1) break;
      this.#takeLine(chunk, at, lineEnd);
      at = this.#afterLine(chunk, lineEnd);
    }
    if (at < chunk.length && !this.#isDone) this.#keep(chunk.subarray(at));
    return this.#isDone;
  }

  /** Marks the end of the bytes and emits the last event. */
  end(): boolean {
    if (this.#isDone) return true;
    if (this.#carryBytes > 0) this.#takeLine(Buffer.alloc(0), 0, 0);
    this.#dispatch();
    return this.#isDone;
  }

  /** CR, LF and CR LF all end a line; the LF of a CR LF may arrive with the next chunk. */
  #afterLine(chunk: Buffer, lineEnd: number): number {
    const next = lineEnd + 1;
    if (chunk[lineEnd] !== CR) return next;
    if (next === chunk.length) this.#skipLf = true;
    return chunk[next] === LF ? next + 1 : next;
  }

  #keep(rest: Buffer): void {
    this.#carryBytes += rest.length;
    if (this.#carryBytes > this.#lineBytesMax) throw tooLong(this.#lineBytesMax);
    this.#carry.push(rest);
  }

  #takeLine(chunk: Buffer, start: number, end: number): void {
    let line = chunk;
    let from = start;
    let to = end;
    if (this.#carryBytes > 0) {
      line = Buffer.concat([...this.#carry, chunk.subarray(start, end)]);
      this.#carry = [];
      this.#carryBytes = 0;
      from = 0;
      to = line.length;
    }
    if (to - from > this.#lineBytesMax) throw tooLong(this.#lineBytesMax);
    if (this.#firstLine) {
      this.#firstLine = false;
      if (line[from] === 0xef && line[from + 1] === 0xbb && line[from + 2] === 0xbf) from += 3;
    }
    if (from === to) this.#dispatch();
    else this.#field(line, from, to);
  }

  #field(line: Buffer, from: number, to: number): void {
    let colon = from;
    while (colon < to && line[colon] !== COLON) colon += 1;
    // A line that starts with a colon is a comment.
    if (colon === from) return;
    const valueStart = colon + 1 < to && line[colon + 1] === SPACE ? colon + 2 : Math.min(colon + 1, to);
    if (isField(line, from, colon, 'data')) {
      const value = line.toString('utf8', valueStart, to);
      this.#data = this.#data === null ? value : this.#join(this.#data, value);
    } else if (isField(line, from, colon, 'event')) {
      this.#event = line.toString('utf8', valueStart, to);
    }
  }

  #join(before: string, value: string): string {
    if (before.length + value.length > this.#lineBytesMax) throw tooLong(this.#lineBytesMax);
    return before + '\n' + value;
  }

  #dispatch(): void {
    const data = this.#data;
    const event = this.#event;
    this.#data = null;
    this.#event = '';
    if (data !== null && !this.#isDone) this.#isDone = this.#handler.event(data, event);
  }
}

/** The smaller of two positions, ignoring -1. */
function earlier(a: number, b: number): number {
  if (a === -1 || b === -1) return Math.max(a, b);
  return Math.min(a, b);
}

function isField(line: Buffer, from: number, to: number, name: string): boolean {
  if (to - from !== name.length) return false;
  for (let i = 0; i < name.length; i++) if (line[from + i] !== name.charCodeAt(i)) return false;
  return true;
}

function tooLong(bytesMax: number): AppError {
  return new AppError('model_bad_reply', `The model server sent a line of more than ${bytesMax} bytes.`);
}
