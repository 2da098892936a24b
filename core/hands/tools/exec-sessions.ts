// Commands that continue in the background after the call that started them: their output, input and end. Bounded in number and memory, and
// forgotten half an hour after their end. A conversation sees only its own.

import { Emitter } from '../../base/emitter.ts';
import { AppError } from '../../contracts/errors.ts';
import type { ToolContext } from '../../contracts/tools.ts';
import { startCommand, type CommandEnd, type RunningCommand } from './command-process.ts';
import { reportOf } from './confined-start.ts';
import { optionsOf, spoolFileBytesMax, type ExecDeps, type ForegroundRun } from './exec-foreground.ts';
import type { ShownCommand } from './background-commands.ts';
import { OutputSpool } from './output-spool.ts';

export const sessionsMax = 20;
/** The part of the output that a list shows. */
const TAIL_BYTES = 4_000;
const KEPT_MS = 30 * 60_000;
const MEMORY_BYTES_MAX = 256_000;

export interface ExecSession {
  readonly id: string;
  readonly command: string;
  readonly cwd: string;
  readonly owner: string;
  readonly startedMs: number;
  readonly running: RunningCommand;
  readonly output: OutputSpool;
  readonly onNews: Emitter<void>;
  /** The offset that poll has reached. */
  polledBytes: number;
  end: CommandEnd | null;
  /** The sandbox's findings after it ended. */
  remarks: readonly string[];
  endedMs: number | null;
  /** Resolves when it is over; never rejects. */
  ended: Promise<void>;
}

export interface BackgroundRun extends Omit<ForegroundRun, 'timeoutMs'> {
  /** The command line as requested. */
  readonly command: string;
  readonly timeoutMs: number | null;
}

export class ExecSessions {
  readonly #deps: ExecDeps;
  readonly #sessions = new Map<string, ExecSession>();
  #starting = 0;
  #count = 0;

  constructor(deps: ExecDeps) {
    this.#deps = deps;
    deps.background?.join({ running: () => this.#running(), stop: (id) => this.#stop(id) });
  }

  /** Starts a command that outlives the call. Fails with `tool_failed` if too many are running. */
  async start(run: BackgroundRun, context: ToolContext): Promise<ExecSession> {
    this.#makeRoom();
    this.#starting += 1;
    const output = new OutputSpool({
      folder: this.#deps.temporaryFolder,
      memoryBytesMax: MEMORY_BYTES_MAX,
      fileBytesMax: spoolFileBytesMax,
    });
    const onNews = new Emitter<void>(() => undefined);
    try {
      const onData = (bytes: Buffer): void => {
        output.append(bytes);
        onNews.emit();
      };
      const running = await startCommand(this.#deps, { ...optionsOf(this.#deps, run, context), keepInput: true, onData });
      return this.#keep(run, context.sessionId, { running, output, onNews });
    } finally {
      this.#starting -= 1;
    }
  }

  /** Returns a session of this conversation, or without an owner of any. Fails with `not_found`. */
  get(id: string, owner: string | undefined): ExecSession {
    this.#sweep();
    const session = this.#sessions.get(id);
    if (session !== undefined && (owner === undefined || session.owner === owner)) return session;
    throw new AppError('not_found', `There is no background command ${JSON.stringify(id.slice(0, 80))} in this conversation.`, {
      hint: 'Use the action list to see those there are; they are forgotten half an hour after their end.',
    });
  }

  list(owner: string): ExecSession[] {
    this.#sweep();
    return [...this.#sessions.values()].filter((session) => session.owner === owner);
  }

  async kill(session: ExecSession): Promise<number> {
    const { killed } = await this.#deps.trees.kill(session.running.pid);
    return killed;
  }

  #running(): ShownCommand[] {
    const { clock } = this.#deps;
    return [...this.#sessions.values()]
      .filter(({ endedMs }) => endedMs === null)
      .map(({ id, command, owner, startedMs, output }) => ({
        id,
        command,
        sessionId: owner,
        startedAtMs: Math.round(clock.nowMs() - (clock.monotonicMs() - startedMs)),
        output: tailOf(output),
      }));
  }

  async #stop(id: string): Promise<boolean> {
    const session = this.#sessions.get(id);
    if (session === undefined || session.endedMs !== null) return false;
    await this.kill(session);
    return true;
  }

  #keep(
    run: { command: string; cwd: string; timeoutMs: number | null },
    owner: string,
    parts: Pick<ExecSession, 'running' | 'output' | 'onNews'>,
  ): ExecSession {
    const { pid } = parts.running;
    const session: ExecSession = {
      ...parts,
      // The pid prevents the id from naming another command after a restart.
      id: `cmd-${++this.#count}-${pid}`,
      command: run.command,
      cwd: run.cwd,
      owner,
      startedMs: this.#deps.clock.monotonicMs(),
      polledBytes: 0,
      end: null,
      remarks: [],
      endedMs: null,
      ended: Promise.resolve(),
    };
    this.#sessions.set(session.id, session);
    const limit = run.timeoutMs === null ? null : setTimeout(() => void this.kill(session), run.timeoutMs);
    session.ended = this.#watch(session, limit);
    return session;
  }

  /** A background command is over when it has exited and nothing it started holds its output open. */
  async #watch(session: ExecSession, limit: NodeJS.Timeout | null): Promise<void> {
    const end = await session.running.exited;
    await session.running.closed;
    if (limit !== null) clearTimeout(limit);
    session.remarks = (await reportOf(session.running.settled)).remarks;
    session.end = end;
    session.endedMs = this.#deps.clock.monotonicMs();
    // Children that it left running stay registered, so that a stop finds them at once.
    if (!this.#deps.trees.hasGroup(session.running.pid)) session.running.release();
    session.onNews.emit();
  }

  #makeRoom(): void {
    this.#sweep();
    while (this.#sessions.size + this.#starting >= sessionsMax) {
      const oldest = [...this.#sessions.values()].find((session) => session.endedMs !== null);
      if (oldest === undefined) {
        throw new AppError('tool_failed', `${sessionsMax} background commands are running already.`, {
          hint: 'End one with the action kill first.',
        });
      }
      this.#forget(oldest);
    }
  }

  #sweep(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    for (const session of this.#sessions.values()) {
      if (session.endedMs !== null && nowMs - session.endedMs > KEPT_MS) this.#forget(session);
    }
  }

  #forget(session: ExecSession): void {
    this.#sessions.delete(session.id);
    session.running.release();
    session.output.close();
  }
}

function tailOf(output: OutputSpool): string {
  const { bytes } = output.read(Math.max(0, output.totalBytes - TAIL_BYTES), TAIL_BYTES);
  // The first character may be incomplete.
  return new TextDecoder().decode(bytes).replace(/^\uFFFD+/, '');
}
