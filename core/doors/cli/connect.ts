// Gets a Claw for a command: the running instance if there is one, otherwise a runtime hosted in this process for the duration of the
// command. A hosted runtime is open to other processes and closes only when it has no work in progress.

import { settlesWithin } from '../../base/waits.ts';
import { Lifetimes } from '../../base/disposable.ts';
import type { Claw } from '../../contracts/claw.ts';
import { AppError, isAppError, toAppError } from '../../contracts/errors.ts';
import type { CliParts, FoundInstance, HostedRuntime, OwnDoors } from './ports.ts';

/** Another process may take this long to start or to end, on a busy machine. */
const joinWithinMs = 20_000;
const urgentWithinMs = 3_000;
const retryMs = 100;
const closeWithinMs = 10_000;
const rejoinsMax = 5;
/** A command asks several times, and loads parts of itself in between. */
const askAgainWithinMs = 1_000;

/**
 * live: turns must be able to continue here, so unfinished ones are resumed. any: read-only access is enough. urgent: the same, and an owner
 * of the data folder that does not answer is reported soon.
 */
export type Need = 'any' | 'live' | 'urgent';

export interface Connection {
  readonly claw: Claw;
  /** The instance to which this process is a client; null if the runtime is hosted in this process. */
  readonly instance: FoundInstance | null;
  readonly doors: OwnDoors | null;
  /** A hosted runtime waits for running work first, unless `drains` is false; then the caller limits the time. */
  close(options?: { readonly drains: boolean }): Promise<void>;
}

export interface ConnectOptions {
  readonly home: string;
  readonly need: Need;
  /** Returns whether a found instance is suitable. An unsuitable one must end first. */
  accepts?(instance: FoundInstance): boolean;
  note(text: string): void;
  onInterrupt(listener: () => void): () => void;
}

/** Fails with `store_locked` if the owner of the data folder neither responds nor ends in time. */
export async function openClaw(parts: CliParts, options: ConnectOptions): Promise<Connection> {
  const connection = await joinOrHost(parts, options);
  return connection.instance === null ? connection : rejoining(connection, () => joinOrHost(parts, options));
}

async function joinOrHost(parts: CliParts, options: ConnectOptions): Promise<Connection> {
  const startedMs = parts.clock.monotonicMs();
  let hasSaid = false;
  for (;;) {
    const found = await parts.findInstance(options.home);
    if (found !== null && (options.accepts?.(found) ?? true)) return joined(parts, found, options);
    const hosted = found === null ? await tryHosting(parts, options) : null;
    if (hosted !== null) return hosted;
    const waitedMs = parts.clock.monotonicMs() - startedMs;
    const isSilent = found === null && options.need !== 'urgent';
    if (waitedMs >= (isSilent ? joinWithinMs : urgentWithinMs)) throw stillLocked(options.home, found);
    if (!hasSaid && waitedMs >= urgentWithinMs) {
      options.note('Waiting for another TrayClaw that is starting or ending.');
      hasSaid = true;
    }
    await found?.claw.close();
    await parts.pause(retryMs);
  }
}

function joined(parts: CliParts, instance: FoundInstance, options: ConnectOptions): Connection {
  const { version, pid } = instance.record;
  if (version !== parts.version)
    options.note(`The running instance (process ${pid}) is version ${version}; this command is ${parts.version}.`);
  return { claw: instance.claw, instance, doors: null, close: () => instance.claw.close() };
}

/**
 * An instance that another command hosts ends with that command, also between two requests of this one. A request that was not received is
 * made again, to another instance or in this process. What was subscribed to ends with the instance.
 */
function rejoining(first: Connection, open: () => Promise<Connection>): Connection {
  let now = first;
  let opening: Promise<Connection> | null = null;
  const rejoin = async (): Promise<void> => {
    opening ??= now.close().then(open);
    try {
      now = await opening;
    } finally {
      opening = null;
    }
  };
  const claw: Claw = {
    op: async (name, params, caller) => {
      for (let rejoins = 0; ; rejoins++) {
        const asked = now;
        try {
          return await asked.claw.op(name, params, caller);
        } catch (cause) {
          if (rejoins === rejoinsMax || !wasNotReceived(cause)) throw cause;
          if (asked === now) await rejoin();
        }
      }
    },
    events: (query) => now.claw.events(query),
    onDelta: (listener) => now.claw.onDelta(listener),
    close: () => now.claw.close(),
  };
  return { ...first, claw, close: (how) => now.close(how) };
}

/** There was no connection: the socket refused it, or is gone. */
function wasNotReceived(cause: unknown): boolean {
  if (!isAppError(cause) || cause.code !== 'shutting_down') return false;
  return cause.cause instanceof Error && 'syscall' in cause.cause && cause.cause.syscall === 'connect';
}

/** Null if another process owns the data folder at the moment. */
async function tryHosting(parts: CliParts, options: ConnectOptions): Promise<Connection | null> {
  let claw: HostedRuntime;
  try {
    const hosted = await parts.hostClaw({ home: options.home, resume: options.need === 'live' });
    for (const notice of hosted.notices ?? []) options.note(notice);
    claw = hosted;
  } catch (cause) {
    if (isAppError(cause) && cause.code === 'store_locked') return null;
    throw cause;
  }
  let doors: OwnDoors;
  try {
    doors = await parts.openDoors({ home: options.home, claw });
  } catch (cause) {
    await claw.close();
    throw cause;
  }
  const close = async (how = { drains: true }): Promise<void> => {
    const lifetimes = new Lifetimes();
    lifetimes.defer(() => claw.close());
    lifetimes.add(doors);
    const closing = (): Promise<void> =>
      lifetimes.dispose().catch((cause: unknown) => {
        // The result of the command stands: it is reported, and the same work is not asked for again.
        options.note(
          `TrayClaw could not close in order: ${toAppError(cause).message.replace(/\.?$/, '.')} Nothing that was recorded is lost.`,
        );
      });
    if (!how.drains) return closing();
    await drain(claw, doors, { parts, options });
    await inTime(closing(), options);
  };
  return { claw, instance: null, doors, close };
}

/** Committed data is on the disk, so a part that does not close costs only the wait. */
async function inTime(closing: Promise<void>, options: ConnectOptions): Promise<void> {
  if (await settlesWithin(closing, closeWithinMs)) return;
  options.note('Closing takes too long; TrayClaw ends without waiting for it. Nothing that was recorded is lost.');
}

function stillLocked(home: string, found: FoundInstance | null): AppError {
  const who = found === null ? 'Another process' : `Another TrayClaw command (process ${found.record.pid})`;
  const what = found === null ? 'and does not answer' : 'and is still at work';
  const hint = 'Use the running instance, or stop it first. On a network drive without file locks, choose a local folder with --home.';
  const data = found === null ? { hint } : {};
  return new AppError('store_locked', `${who} uses the data folder ${home} ${what}.`, { isRetryable: true, data });
}

/**
 * Waits for requests of other processes, also for one that may follow, and for turns that run in this process. Ctrl-C ends the waiting.
 * Turns that no process runs are not waited for.
 */
async function drain(
  claw: HostedRuntime,
  doors: OwnDoors,
  { parts, options }: { readonly parts: CliParts; readonly options: ConnectOptions },
): Promise<void> {
  const interrupted = Promise.withResolvers<void>();
  let isInterrupted = false;
  const stopListening = options.onInterrupt(() => {
    isInterrupted = true;
    interrupted.resolve();
  });
  let hasSaid = false;
  try {
    for (;;) {
      const isBusy = doors.openRequests > 0 || claw.runningTurns() > 0;
      const quietInMs = askAgainWithinMs - doors.askedAgoMs;
      if (isInterrupted || (!isBusy && quietInMs <= 0)) return;
      if (isBusy && !hasSaid) options.note('Waiting for work that is still under way here; Ctrl-C ends it.');
      hasSaid ||= isBusy;
      const settled = doors.openRequests > 0 ? doors.whenIdle() : claw.whenIdle();
      await Promise.race([isBusy ? settled : parts.pause(quietInMs), interrupted.promise]);
    }
  } finally {
    stopListening();
    interrupted.resolve();
  }
}
