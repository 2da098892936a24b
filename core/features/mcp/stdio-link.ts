// A connection to a server that runs as a child process: one message per line over its standard input and output, with limits on line
// length and message rate. Standard error goes to the log. Starts the process with the connection and ends it with everything it started.

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../base/clock.ts';
import { objectIn } from '../../base/json.ts';
import type { RunningProgram } from '../../hands/tools/tools.ts';

export interface StdioLinkDeps {
  readonly start: () => Promise<RunningProgram>;
  readonly clock: Clock;
  /** Receives a line of standard error, or of output that is not a message; truncated. */
  readonly onLine: (line: string) => void;
}

const MESSAGE_BYTES_MAX = 32 * 1024 * 1024;
/** The maximum burst, and the sustained rate. */
const BURST_MAX = 5000;
const MESSAGES_PER_SECOND = 500;
const NEWLINE = 10;

export class StdioLink implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  readonly #deps: StdioLinkDeps;
  #program: RunningProgram | null = null;
  #parts: Buffer[] = [];
  #bytes = 0;
  #sentAhead = 0;
  #countedMs = 0;
  #isOver = false;
  /** How the process ended, for the person; empty while it runs. */
  ending = '';

  constructor(deps: StdioLinkDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    const program = await this.#deps.start();
    if (this.#isOver) {
      await program.end();
      throw new Error('It was closed while it started.');
    }
    this.#program = program;
    program.stdout.on('data', (piece: Buffer) => this.#take(piece));
    readLines(program.stderr, this.#deps.onLine);
    void program.ended.then((how) => this.#over(how));
  }

  send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#program ?? {};
    if (stdin === undefined || this.#isOver) return Promise.reject(new Error('The server is not running.'));
    if (stdin.write(`${JSON.stringify(message)}\n`)) return Promise.resolve();
    return new Promise((resolve) => {
      const go = (): void => {
        stdin.off('drain', go);
        stdin.off('close', go);
        resolve();
      };
      stdin.on('drain', go);
      stdin.on('close', go);
    });
  }

  async close(): Promise<void> {
    this.#over('it was closed');
    await this.#program?.end();
  }

  #over(how: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.ending = how;
    this.#parts = [];
    this.onclose?.();
  }

  #fail(how: string): void {
    this.#over(how);
    void this.#program?.end();
  }

  #take(piece: Buffer): void {
    let from = 0;
    for (let at = piece.indexOf(NEWLINE); at !== -1 && !this.#isOver; at = piece.indexOf(NEWLINE, from)) {
      this.#line([...this.#parts, piece.subarray(from, at)]);
      this.#parts = [];
      this.#bytes = 0;
      from = at + 1;
    }
    if (this.#isOver) return;
    const rest = piece.subarray(from);
    this.#parts.push(rest);
    this.#bytes += rest.length;
    if (this.#bytes > MESSAGE_BYTES_MAX) this.#fail(`it sent a message of more than ${MESSAGE_BYTES_MAX / 1024 / 1024} MB`);
  }

  #line(parts: readonly Buffer[]): void {
    const [only] = parts;
    const text = (parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)).toString('utf8').trim();
    if (text === '' || !this.#isWithinRate()) return;
    const message = objectIn(text);
    // Many servers print a greeting on standard output although the protocol forbids it.
    if (message === null) this.#deps.onLine(text.slice(0, LINE_MAX));
    else this.#receive(message as unknown as JSONRPCMessage);
  }

  /** The client fails on a message that is nested too deep. Thrown here, its error would end the whole program. */
  #receive(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(message);
    } catch (cause) {
      this.#fail(`it sent a message that could not be read (${cause instanceof Error ? cause.message : String(cause)})`);
    }
  }

  #isWithinRate(): boolean {
    const nowMs = this.#deps.clock.monotonicMs();
    this.#sentAhead = Math.max(0, this.#sentAhead - ((nowMs - this.#countedMs) / 1000) * MESSAGES_PER_SECOND) + 1;
    this.#countedMs = nowMs;
    if (this.#sentAhead <= BURST_MAX) return true;
    this.#fail('it floods this program with messages');
    return false;
  }
}

const LINE_MAX = 500;

/** Stores only the beginning of the current line. */
function readLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let line = '';
  stream.on('data', (piece: Buffer) => {
    for (const [at, part] of piece.toString('utf8').split('\n').entries()) {
      if (at > 0) {
        if (line.trim() !== '') onLine(line);
        line = '';
      }
      if (line.length < LINE_MAX) line = (line + part).slice(0, LINE_MAX);
    }
  });
}
