// Runs the command line as a process: real streams, signals and exit codes, and the wiring of its parts. Only this file ends the process.

import { randomBytes } from 'node:crypto';
import { existsSync, fstatSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../core/base/clock.ts';
import { sleep } from '../core/base/waits.ts';
import { errnoOf } from '../core/base/errno.ts';
import type { StartChild } from '../core/mind/llm/llm.ts';
import type { Logger } from '../core/base/logger.ts';
import { runCli, type CliIo, type CliParts, type McpStreams, type OwnDoors } from '../core/doors/cli/cli.ts';
import type { InstanceDoor } from '../core/doors/http/http.ts';
import { createFileLogger } from './file-logger.ts';
import { launchDesktop } from './desktop-launcher.ts';
import { isServiceLog } from './service-log.ts';
import { settleMemorySoon } from './settle-memory.ts';
import { followTimeZone } from './time-zone.ts';
import { openerFilePath, openWindow } from './window-opener.ts';
import { whyFileFailed } from '../core/contracts/errors.ts';

export interface ProcessOptions {
  readonly version: string;
  readonly packageRoot: URL;
  /** The command line of an installed app; by default Node with the built file. */
  readonly command?: readonly string[];
  /** Starts the engine's child process if this program is not Node. */
  readonly startChild?: StartChild;
}

export async function runProcess(argv: readonly string[], options: ProcessOptions): Promise<void> {
  const redaction: Redaction = { redact: null };
  reportCrashes(redaction);
  const cwd = currentFolder();
  if (cwd === null) {
    process.stderr.write('The folder of this terminal no longer exists. Go to another one (cd ~), then do it again.\n');
    process.exit(1);
  }
  // Keeps the process alive while a command runs, even if it only waits for unreferenced handles.
  const alive = setInterval(() => undefined, 60_000);
  const ending = listenForEnd();
  const code = await runCli(argv, processIo(ending, cwd), processParts(options, redaction));
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  clearInterval(alive);
  process.exit(ending.failed() ? 1 : code);
}

function processIo({ onInterrupt, gone }: Ending, cwd: string): CliIo {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    stdinIsTty: process.stdin.isTTY,
    stdoutIsTty: process.stdout.isTTY,
    stderrIsTty: process.stderr.isTTY,
    stdoutIsServiceLog: isServiceLog({ env: process.env, pid: process.pid, isTty: process.stdout.isTTY, stat: () => fstatSync(1) }),
    env: process.env,
    cwd,
    platform: process.platform,
    userFolder: homedir(),
    onInterrupt,
    gone,
  };
}

/** Null if it was removed. */
function currentFolder(): string | null {
  try {
    return process.cwd();
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return null;
    throw cause;
  }
}

interface Ending extends Pick<CliIo, 'onInterrupt' | 'gone'> {
  /** True if writing to standard output failed for a reason other than a closed reader. */
  failed(): boolean;
}

/**
 * Listens for signals and for lost streams. The first signal requests an interrupt; the third ends the process in any case, and so does the
 * first if nothing listens. A lost stream only requests an interrupt, so that running work, and the commands it started, end in order.
 */
function listenForEnd(): Ending {
  const listeners = new Set<() => void>();
  const closed = new AbortController();
  let signals = 0;
  let isStdoutLost = false;
  let isFailed = false;
  const tellAll = (): void => Array.from(listeners).forEach((listener) => listener());
  /** A closed terminal shows up as a signal and as an error of each of its streams. */
  const closeOnce = (): void => {
    if (closed.signal.aborted) return;
    closed.abort();
    tellAll();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      signals += 1;
      const isKnown = signal === 'SIGHUP' && closed.signal.aborted;
      if (signals > 2 || (listeners.size === 0 && !isKnown)) process.exit(130);
      if (signal === 'SIGHUP') closeOnce();
      else tellAll();
    });
  }
  process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
    // Every further write fails as well.
    if (isStdoutLost) return;
    isStdoutLost = true;
    if (cause.code === 'EIO') return closeOnce();
    // A reader that closed early (a pager, head) is not an error.
    isFailed = cause.code !== 'EPIPE';
    if (isFailed) process.stderr.write(`The output cannot be written: ${whyFileFailed(cause)}.\n`);
    tellAll();
  });
  // A lost stdin or stderr leaves no way to ask or report anything.
  for (const stream of [process.stdin, process.stderr])
    stream.on('error', (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'EIO') closeOnce();
    });
  return {
    onInterrupt: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    gone: closed.signal,
    failed: () => isFailed,
  };
}

/** The redactor of the runtime this process hosts; null while it hosts none. */
interface Redaction {
  redact: ((text: string) => string) | null;
}

/** The part of a door that the command line uses. Closing it forgets the window that was opened. */
function ownDoors(door: InstanceDoor, home: string): OwnDoors {
  const stopFollowing = followTimeZone(process.env);
  return {
    get openRequests() {
      return door.openRequests;
    },
    get askedAgoMs() {
      return door.askedAgoMs;
    },
    whenIdle: () => door.whenIdle(),
    serve: async (port) => {
      const listening = await door.serve(port);
      settleMemorySoon();
      return listening;
    },
    dispose: async () => {
      stopFollowing();
      if (existsSync(openerFilePath(home))) rmSync(openerFilePath(home));
      await door.dispose();
    },
  };
}

function processParts({ version, packageRoot, command: packaged, startChild }: ProcessOptions, redaction: Redaction): CliParts {
  const started = startChild === undefined ? {} : { startChild };
  const root = fileURLToPath(packageRoot);
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
  return {
    version,
    pid: process.pid,
    clock: systemClock,
    pause: (ms) => sleep(ms),
    hostClaw: async ({ ignoresConfig = false, ...options }) => {
      const { createTrayClaw } = await import('../core/compose.ts');
      const own = { version, logger: createFileLogger(options.home, 'info'), ...started, ...(ignoresConfig ? { config: {} } : {}) };
      const claw = await createTrayClaw({ ...options, ...own });
      redaction.redact = (text) => claw.redact(text);
      return claw;
    },
    findInstance: async (home) => (await import('../core/doors/http/http.ts')).findInstance(home),
    endOwner,
    openDoors: async ({ home, claw }) => {
      const { InstanceDoor } = await import('../core/doors/http/http.ts');
      const door = new InstanceDoor({
        home,
        claw,
        routes: claw.routes ?? [],
        version,
        pid: process.pid,
        clock: systemClock,
        logger: createStderrLogger(redaction),
        assetsFolder: builtWindow(root),
        platform: process.platform,
        temporaryFolder: tmpdir(),
      });
      await door.open();
      return ownDoors(door, home);
    },
    restoreBackup,
    openWindow: (options) => openWindow(options, { env: process.env, platform: process.platform, isRoot }),
    runDesktop: (options) =>
      launchDesktop({
        ...options,
        root,
        packaged: packaged?.[0] ?? null,
        env: process.env,
        platform: process.platform,
        isRoot,
        nowMs: () => systemClock.nowMs(),
      }),
    serveMcp: (streams) => serveMcp(streams, { version, logger: createStderrLogger(redaction) }),
    findService: async ({ home, port }) => {
      const { findService } = await import('./service/find-service.ts');
      const { env, platform } = process;
      const command = packaged ?? [process.execPath, join(root, 'dist', 'cli.js')];
      return findService({ platform, env, userFolder: homedir(), userId: process.getuid?.() ?? 0, home, port, command });
    },
  };
}

async function restoreBackup({ home, file }: Parameters<CliParts['restoreBackup']>[0]): ReturnType<CliParts['restoreBackup']> {
  return (await import('../core/store/storage/storage.ts')).restoreBackup(resolve(home), file, systemClock.nowMs());
}

async function endOwner(home: string): Promise<number | null> {
  const record = (await import('../core/store/home/home.ts')).readInstanceFile(home);
  if (record === null) return null;
  return (await (await import('../core/store/storage/storage.ts')).endOwner(home, record.pid)) ? record.pid : null;
}

async function serveMcp(streams: McpStreams, own: { readonly version: string; readonly logger: Logger }): Promise<void> {
  const { serveOnStdio } = await import('../core/features/mcp-door/mcp-door.ts');
  await serveOnStdio({ ...streams, ...own, newId: () => randomBytes(9).toString('hex') });
}

/** Prints messages only where they are meant for a person: the runtime keeps a separate log. */
function createStderrLogger(redaction: Redaction): Logger {
  return {
    log: (level, message, data) => {
      if (level !== 'warn' && level !== 'error') return;
      const line = `${level}: ${message}${data === undefined ? '' : ' ' + JSON.stringify(data)}\n`;
      process.stderr.write(redaction.redact?.(line) ?? line);
    },
  };
}

/** Ends the process after an unexpected error, as usual, but redacts the message first and leaves out Node's excerpt of the source. */
function reportCrashes(redaction: Redaction): void {
  const report = (cause: unknown): void => {
    const text = `TrayClaw ended because of an internal error.\n${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`;
    // Before the runtime exists, no secret is known and no data folder has been read.
    process.stderr.write(redaction.redact?.(text) ?? text, () => process.exit(1));
  };
  process.on('uncaughtException', report);
  process.on('unhandledRejection', report);
}

/** Waits until everything is written, including the error event of a failed write, which a stream emits later. */
function flushed(stream: Writable): Promise<void> {
  return new Promise((written) => {
    if (stream.writableLength === 0) setImmediate(written);
    else stream.write('', () => setImmediate(written));
  });
}

/** The folder of the built window; null in a checkout without a build. */
function builtWindow(root: string): string | null {
  const folder = join(root, 'dist', 'renderer');
  return existsSync(join(folder, 'index.html')) ? folder : null;
}
