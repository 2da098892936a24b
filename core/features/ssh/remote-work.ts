// Work that continues on remote machines after the call that started it: background commands and forwarded ports. Ended by the agent that
// began it, by a person, by the panic stop, and when TrayClaw closes. Limited in number and memory; a session sees only its own.

import { createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { untilAborted } from '../../base/waits.ts';
import { AppError } from '../../contracts/errors.ts';
import type { ToolContext } from '../../contracts/tools.ts';
import type { ShownCommand } from '../../hands/tools/tools.ts';
import type { Spine } from '../feature.ts';
import type { Aim, SshConnection } from './connection.ts';
import { addressOf } from './known-hosts.ts';
import type { CommandEnd } from './remote-command.ts';

export interface RemoteJob {
  readonly id: string;
  /** The command line, or the port and its destination. */
  readonly what: string;
  readonly host: string;
  readonly sessionId: string;
  readonly startedAtMs: number;
  /** The last part of the output. */
  output: string;
  isCut: boolean;
  /** How the work ended, as a sentence; null while it runs. */
  end: string | null;
}

interface Running {
  readonly job: RemoteJob;
  readonly stop: AbortController;
  /** Resolves when the work has ended completely. */
  readonly over: Promise<void>;
}

type Deps = Pick<Spine, 'clock' | 'panic'>;

const RUNNING_MAX = 8;
const ENDED_KEPT = 20;
const OUTPUT_CHARS_MAX = 200_000;
const TAIL_CHARS = 4_000;
const CONNECTIONS_MAX = 64;

export class RemoteWork {
  readonly #deps: Deps;
  readonly #running = new Map<string, Running>();
  readonly #ended: RemoteJob[] = [];
  #count = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Takes ownership of the connection. Fails with `tool_failed` if too much is running. */
  command(connection: SshConnection, about: { readonly host: string; readonly command: string }, context: ToolContext): RemoteJob {
    const { host, command } = about;
    return this.#start(connection, { host, what: command, context }, async (job, signal) => {
      const decoder = new TextDecoder();
      const end = await connection.run(command, signal, (piece) => keep(job, decoder.decode(piece, { stream: true })));
      if (!signal.aborted) return endOf(end);
      return end.isLost ? 'was stopped, but the machine did not say so: it may run on there' : 'was stopped';
    });
  }

  /** Takes ownership of the connection. Only this computer can reach the port. */
  async forward(
    connection: SshConnection,
    about: { readonly host: string; readonly to: Aim; readonly port: number },
    context: ToolContext,
  ): Promise<RemoteJob> {
    this.#assertRoom(connection);
    const { host, to } = about;
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
      void lead(socket, connection, to);
    });
    server.maxConnections = CONNECTIONS_MAX;
    const port = await listen(server, about.port);
    const shut = (): void => {
      server.close();
      for (const socket of sockets) socket.destroy();
    };
    const what = `127.0.0.1:${port} to ${addressOf(to)}`;
    const untilEnd = async (_job: RemoteJob, signal: AbortSignal): Promise<string> => {
      const lost = new Promise<string>((resolve) => connection.onClose(() => resolve('ended, because the connection was lost')));
      const end = await Promise.race([lost, untilAborted(signal).then(() => 'was closed')]);
      shut();
      return end;
    };
    try {
      return this.#start(connection, { host, what, context }, untilEnd);
    } catch (cause) {
      shut();
      throw cause;
    }
  }

  list(sessionId: string): RemoteJob[] {
    return [...this.#ended, ...[...this.#running.values()].map(({ job }) => job)].filter((job) => job.sessionId === sessionId);
  }

  /** Fails with `not_found`. */
  get(id: string, sessionId: string): RemoteJob {
    const job = this.list(sessionId).find((one) => one.id === id);
    if (job !== undefined) return job;
    throw new AppError('not_found', `Nothing with the id ${id.slice(0, 40)} was started on a remote machine here.`, {
      hint: 'Use the action list.',
    });
  }

  /** The running work as shown to people. */
  running(): ShownCommand[] {
    return [...this.#running.values()].map(({ job: { id, what, host, sessionId, startedAtMs, output } }) => ({
      id,
      command: `${host}: ${what}`,
      sessionId,
      startedAtMs,
      output: output.slice(-TAIL_CHARS),
    }));
  }

  /** Returns false if the work is not running. */
  async stop(id: string): Promise<boolean> {
    const running = this.#running.get(id);
    if (running === undefined) return false;
    running.stop.abort();
    await running.over;
    return true;
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((id) => this.stop(id)));
  }

  #start(
    connection: SshConnection,
    { host, what, context: { sessionId } }: { readonly host: string; readonly what: string; readonly context: ToolContext },
    work: (job: RemoteJob, signal: AbortSignal) => Promise<string>,
  ): RemoteJob {
    this.#assertRoom(connection);
    const { clock, panic } = this.#deps;
    this.#count += 1;
    const job: RemoteJob = {
      id: `remote-${this.#count}`,
      what,
      host,
      sessionId,
      startedAtMs: clock.nowMs(),
      output: '',
      isCut: false,
      end: null,
    };
    const stop = new AbortController();
    const onPanic = (): void => stop.abort();
    panic.signal.addEventListener('abort', onPanic, { once: true });
    const over = work(job, stop.signal)
      .catch((cause: unknown) => `failed: ${cause instanceof Error ? cause.message : String(cause)}`)
      .then((end) => {
        panic.signal.removeEventListener('abort', onPanic);
        connection.close();
        job.end = end;
        this.#running.delete(job.id);
        this.#ended.push(job);
        if (this.#ended.length > ENDED_KEPT) this.#ended.shift();
      });
    this.#running.set(job.id, { job, stop, over });
    return job;
  }

  #assertRoom(connection: SshConnection): void {
    const isStopped = this.#deps.panic.engaged;
    if (!isStopped && this.#running.size < RUNNING_MAX) return;
    connection.close();
    if (isStopped) throw new AppError('panic_engaged', 'Everything is stopped, so nothing begins on a remote machine.');
    throw new AppError('tool_failed', `${RUNNING_MAX} commands and ports of remote machines are open already.`, {
      hint: 'Stop one of them first.',
    });
  }
}

function keep(job: RemoteJob, text: string): void {
  const all = job.output + text;
  job.isCut ||= all.length > OUTPUT_CHARS_MAX;
  job.output = all.slice(-OUTPUT_CHARS_MAX);
}

function endOf({ code, isCut, isLost }: CommandEnd): string {
  if (isLost) return 'was lost with the connection: whether it ended there is not known';
  if (isCut) return 'said more than fits, and was stopped';
  return code === null ? 'was ended by a signal' : `ended with code ${code}`;
}

async function lead(socket: Socket, connection: SshConnection, to: Aim): Promise<void> {
  try {
    const there = await connection.forward(to);
    there.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => there.destroy());
    socket.pipe(there).pipe(socket);
  } catch {
    // The machine cannot reach the destination, so the local connection ends too.
    socket.destroy();
  }
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new AppError('tool_failed', `Port ${port} of this computer cannot be used.`, { cause, hint: 'Leave out port.' });
  }
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
