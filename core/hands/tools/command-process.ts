// Starts one command as the leader of a separate process group, through pipes or a terminal, and reports its output and end. Knows nothing
// about results or sessions; ProcessTrees ends it.

import { spawn, type ChildProcess } from 'node:child_process';
import type * as Terminals from '@lydell/node-pty';
import { AppError } from '../../contracts/errors.ts';
import type { SpawnRecord, TaintSource } from '../../contracts/tools.ts';
import type { CommandSandbox, SandboxReport, WrappedCommand } from '../../guard/sandbox/sandbox.ts';
import { wrapCommand } from './confined-start.ts';
import type { ConfirmedCommand } from './exec-facts.ts';
import type { EnvironmentMarker, ProcessTrees } from './process-trees.ts';
import type { Shell } from './shell-command.ts';

export interface CommandOptions extends Omit<ConfirmedCommand, 'environment'> {
  readonly environment: Readonly<Record<string, string>>;
  /** The variables given to the command, inside and outside the sandbox. */
  readonly sets: Readonly<Record<string, string>>;
  readonly marker: EnvironmentMarker;
  readonly pty: boolean;
  /** True if a person approved it. */
  readonly attended: boolean;
  /** The folder of its session. */
  readonly workspace: string;
  /** If false, the command reads the end of its input at once. */
  readonly keepInput: boolean;
  /** Aborting it before the process starts prevents the start. */
  readonly signal: AbortSignal;
  onSpawn(record: SpawnRecord): void;
  onData(bytes: Buffer): void;
}

export interface CommandEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export interface RunningCommand {
  readonly pid: number;
  /** Resolves when the command itself has ended; its children may still hold its output open. */
  readonly exited: Promise<CommandEnd>;
  /** Resolves when all output was read and no process holds it open any more. */
  readonly closed: Promise<void>;
  /** The origin of what it brings in from outside the opened folders; null if it is known to use only what is in them. */
  readonly fetches: TaintSource | null;
  /** The sandbox's report, once the command has ended. */
  readonly settled: Promise<SandboxReport>;
  /** Returns false if the input is closed. */
  write(data: string): boolean;
  /** Stops reading, even if a process still writes, and removes the command from the register of running ones. */
  release(): void;
}

export interface CommandStarter {
  readonly trees: ProcessTrees;
  readonly shell: Shell;
  readonly sandbox: CommandSandbox;
}

type StartedCommand = Omit<RunningCommand, 'settled' | 'fetches'>;

/**
 * Fails with `tool_failed` if the command cannot be started, and with `sandbox_unavailable` if it must not run unconfined. The record is
 * passed on before anything else happens.
 */
export async function startCommand(starter: CommandStarter, options: CommandOptions): Promise<RunningCommand> {
  const { shell, sandbox } = starter;
  const plain = options.pty ? shell.interactive(options.run) : shell.piped(options.run);
  const wrapped = await wrapCommand(sandbox, plain, options);
  try {
    const started = await (options.pty ? startInTerminal : startPiped)(starter, options, wrapped);
    return { ...started, fetches: broughtFrom(options, wrapped.isOffline === true), settled: started.exited.then(() => wrapped.dispose()) };
  } catch (cause) {
    await wrapped.dispose();
    throw cause;
  }
}

/** A program that reaches the network may bring in more than the file it is given. */
function broughtFrom({ foreign, outside }: CommandOptions, isOffline: boolean): TaintSource | null {
  if (foreign !== null && !isOffline) return { kind: 'command', where: foreign };
  return outside === null ? null : { kind: 'file', where: outside };
}

async function startPiped(starter: CommandStarter, options: CommandOptions, wrapped: WrappedCommand): Promise<StartedCommand> {
  options.signal.throwIfAborted();
  const child = spawn(wrapped.file, wrapped.args, {
    cwd: options.cwd,
    env: wrapped.environment,
    detached: process.platform !== 'win32',
    windowsHide: true,
    stdio: [options.keepInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw await startFailure(child);
  const registering = register(starter, options, pid);
  // Subscribes before the first await, because the end of a quick command would otherwise be missed.
  const running = watchPiped(child, pid, options);
  const untrack = await registering;
  return {
    ...running,
    release: () => {
      untrack();
      running.release();
    },
  };
}

/** Ends a child whose record cannot be written, because it would be unknown after a crash. */
async function register(starter: CommandStarter, options: CommandOptions, pid: number): Promise<() => void> {
  const record = starter.trees.recordOf(pid);
  const untrack = starter.trees.track({ ...record, marker: options.marker });
  try {
    options.onSpawn(record);
    return untrack;
  } catch (cause) {
    await starter.trees.kill(pid);
    untrack();
    throw cause;
  }
}

function watchPiped(child: ChildProcess, pid: number, options: CommandOptions): StartedCommand {
  const exited = Promise.withResolvers<CommandEnd>();
  const closed = Promise.withResolvers<void>();
  child.stdout?.on('data', (bytes: Buffer) => options.onData(bytes));
  child.stderr?.on('data', (bytes: Buffer) => options.onData(bytes));
  // A command that ends without reading its input breaks the pipe, which is allowed.
  child.stdin?.on('error', () => undefined);
  // After the start only failed signals are reported here, and ours are sent in another way.
  child.on('error', () => undefined);
  child.once('exit', (exitCode, signal) => exited.resolve({ exitCode, signal }));
  child.once('close', () => closed.resolve());
  return {
    pid,
    exited: exited.promise,
    closed: closed.promise,
    write: (data) => {
      if (child.stdin === null || !child.stdin.writable) return false;
      child.stdin.write(data);
      return true;
    },
    release: () => {
      child.stdin?.destroy();
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
  };
}

async function startFailure(child: ChildProcess): Promise<AppError> {
  const cause = await new Promise<Error>((resolve) => child.once('error', resolve));
  return new AppError('tool_failed', `The command could not be started: ${cause.message}.`, { cause });
}

async function startInTerminal(starter: CommandStarter, options: CommandOptions, wrapped: WrappedCommand): Promise<StartedCommand> {
  const { spawn: spawnTerminal } = await loadTerminals();
  options.signal.throwIfAborted();
  const terminal = spawnTerminal(wrapped.file, [...wrapped.args], {
    name: 'xterm-256color',
    cols: 120,
    rows: 30,
    cwd: options.cwd,
    env: { ...wrapped.environment },
  });
  const registering = register(starter, options, terminal.pid);
  const exited = Promise.withResolvers<CommandEnd>();
  const closed = Promise.withResolvers<void>();
  let isOver = false;
  terminal.onData((text) => options.onData(Buffer.from(text)));
  terminal.onExit(({ exitCode, signal }) => {
    isOver = true;
    exited.resolve({ exitCode: signal === undefined || signal === 0 ? exitCode : null, signal: signal ? String(signal) : null });
    closed.resolve();
  });
  const untrack = await registering;
  return {
    pid: terminal.pid,
    exited: exited.promise,
    closed: closed.promise,
    write: (data) => {
      if (!isOver) terminal.write(data);
      return !isOver;
    },
    release: untrack,
  };
}

/** Imported lazily: a native addon that most runs never need and some machines cannot load. */
async function loadTerminals(): Promise<typeof Terminals> {
  try {
    return await import('@lydell/node-pty');
  } catch (cause) {
    throw new AppError('tool_failed', 'Terminals are not available on this machine: the node-pty addon could not be loaded.', {
      cause,
      hint: 'Run the command without pty.',
    });
  }
}
