// The context of every command: the terminal, the options that all commands share, and a Claw for as long as it is needed.

import { readFileSync } from 'node:fs';
import { givenPath } from '../../base/given-path.ts';
import { AppError, givenText, isAppError, unreadable } from '../../contracts/errors.ts';
import type { OpName, OpParams, OpResult } from '../../contracts/ops.ts';
import { openClaw, type Connection, type Need } from './connect.ts';
import { exitCodes } from './exit-code.ts';
import { resolveHome } from '../../store/home/home.ts';
import type { Output, Paint } from './output.ts';
import { isInsideTool, withoutPersonOps } from './person-only.ts';
import type { CliIo, CliParts, FoundInstance } from './ports.ts';
import { withShortIds } from './short-ids.ts';

const stdinBytesMax = 16 * 1024 * 1024;

export interface OpView<N extends OpName> {
  /** The value that --json prints; by default the result itself. */
  readonly json?: (result: OpResult<N>) => unknown;
  readonly human: (result: OpResult<N>, paint: Paint) => string;
  readonly exitCode?: (result: OpResult<N>) => number;
  readonly need?: Need;
}

/** Passes the context to the body of a command, which resolves to the exit code. */
export type Run = (body: (context: CommandContext) => Promise<number>) => Promise<void>;

export interface CommandContextParts {
  readonly io: CliIo;
  readonly parts: CliParts;
  readonly output: Output;
  readonly home: string;
}

export class CommandContext {
  readonly io: CliIo;
  readonly parts: CliParts;
  readonly output: Output;
  readonly home: string;

  constructor(own: CommandContextParts) {
    this.io = own.io;
    this.parts = own.parts;
    this.output = own.output;
    this.home = own.home;
  }

  /** The command line of this program for the same data folder, for commands that are printed. */
  get program(): string {
    if (this.home === resolveHome(undefined, this.io)) return 'trayclaw';
    return `trayclaw --home ${/^[\w./:\\-]+$/.test(this.home) ? this.home : JSON.stringify(this.home)}`;
  }

  /** True if a person sits at the terminal and can be asked. */
  get hasPerson(): boolean {
    return this.io.stdinIsTty && this.io.stderrIsTty;
  }

  /** The same command with the default settings, if it runs in this process. For what must work whatever config.yaml says. */
  withDefaultSettings(): CommandContext {
    const { io, output, home, parts } = this;
    const hostClaw: CliParts['hostClaw'] = (options) => parts.hostClaw({ ...options, ignoresConfig: true });
    return new CommandContext({ io, output, home, parts: { ...parts, hostClaw } });
  }

  async connect(need: Need, accepts?: (instance: FoundInstance) => boolean): Promise<Connection> {
    const connection = await openClaw(this.parts, {
      home: this.home,
      need,
      ...(accepts === undefined ? {} : { accepts }),
      note: (text) => this.output.note(text),
      onInterrupt: (listener) => this.io.onInterrupt(listener),
    });
    const claw = withShortIds(connection.claw);
    return { ...connection, claw: isInsideTool(this.io.env) ? withoutPersonOps(claw) : claw };
  }

  async withClaw(need: Need, use: (connection: Connection) => Promise<number>): Promise<number> {
    const connection = await this.connect(need);
    let drains = true;
    try {
      return await use(connection);
    } catch (cause) {
      // A second interrupt ends the program without waiting.
      drains = !(isAppError(cause) && cause.code === 'cancelled');
      throw cause;
    } finally {
      await connection.close({ drains: drains && !this.io.gone.aborted });
    }
  }

  /** Runs a command that is a single operation and a view of its result. Ctrl-C aborts the operation. */
  runOp<N extends OpName>(name: N, params: OpParams<N>, view: OpView<N>): Promise<number> {
    return this.withClaw(view.need ?? 'any', ({ claw }) =>
      this.untilInterrupt(async (signal) => {
        const result = await claw.op(name, params, { channel: 'cli', actor: 'cli', signal });
        this.output.result(view.json?.(result) ?? result, () => view.human(result, this.output.paint));
        return view.exitCode?.(result) ?? exitCodes.done;
      }),
    );
  }

  /** Runs work that resolves to the exit code. Ctrl-C aborts the signal and determines the exit code. */
  async untilInterrupt(work: (signal: AbortSignal) => Promise<number>): Promise<number> {
    const gone = new AbortController();
    const stopListening = this.io.onInterrupt(() => gone.abort());
    try {
      return await work(gone.signal);
    } catch (cause) {
      if (gone.signal.aborted) return exitCodes.interrupted;
      throw cause;
    } finally {
      stopListening();
    }
  }

  /** Fails with `invalid_params` if the bytes are not UTF-8. */
  async readStdin(): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of this.io.stdin as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > stdinBytesMax) throw new AppError('payload_too_large', 'There is more on standard input than can be taken (16 MB).');
      chunks.push(chunk);
    }
    return givenText(Buffer.concat(chunks), 'Standard input');
  }

  /**
   * The text of a file that a person named, or of standard input for `-`. Fails with `not_found` or `invalid_params`, also if it is empty.
   */
  async readText(file: string): Promise<string> {
    const path = givenPath(this.io, file);
    const text = file === '-' ? await this.readStdin() : readFile(path);
    if (text === '') throw new AppError('invalid_params', `${file === '-' ? 'Standard input' : path} is empty.`);
    return text;
  }
}

function readFile(path: string): string {
  try {
    return givenText(readFileSync(path), path);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

/** Parses JSON that a person typed. Fails with `invalid_params`. */
export function parseJsonArgument(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError('invalid_params', `${what} must be JSON: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

/** Parses a whole number that a person typed. Fails with `invalid_params`. */
export function parseCount(text: string, what: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new AppError('invalid_params', `${what} must be a whole number.`);
  return Number(text);
}

/** Parses a number that a person typed, in this unit if it has one. Fails with `invalid_params`. */
export function parseNumber(text: string, what: string, bounds: { minimum?: number; maximum?: number; unit?: string } = {}): number {
  const { minimum = -Infinity, maximum = Infinity, unit } = bounds;
  const number = Number(text);
  if (text.trim() !== '' && number >= minimum && number <= maximum) return number;
  const kind = unit === undefined ? 'a number' : `a number of ${unit}`;
  const range = Number.isFinite(minimum + maximum) ? ` from ${minimum} to ${maximum}` : '';
  throw new AppError('invalid_params', `${what} takes ${kind}${range}, not ${JSON.stringify(text)}.`);
}
