// Makes a hosted runtime reachable for other processes of the same person: a local socket and instance.json, and on request a port. Only
// the holder of the data folder's lock may open one, so leftovers of an earlier instance can be removed.

import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolders } from '../../base/make-folders.ts';
import type { AsyncLifetime } from '../../base/disposable.ts';
import type { Logger } from '../../base/logger.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import { createHttpDoor, type HttpDoor, type HttpDoorOptions, type UrlListening } from './http-door.ts';
import {
  looseFolder,
  readInstanceFile,
  removeInstanceFile,
  takeEndedFile,
  writeEndedFile,
  writeInstanceFile,
  type EndedRecord,
  type InstanceRecord,
} from '../../store/home/home.ts';
import { digestOf, type EarlierToken } from './token-check.ts';

/** A longer Unix socket path does not fit sockaddr_un everywhere (104 bytes on macOS, 108 on Linux). */
const socketPathBytesMax = 100;
/** How long after a clean exit an open window can get the token of the next run. */
const renewWithinMs = 600_000;

export interface InstanceDoorOptions extends Omit<HttpDoorOptions, 'token' | 'earlierToken' | 'serve'> {
  readonly home: string;
  readonly pid: number;
  readonly platform: NodeJS.Platform;
  readonly temporaryFolder: string;
  /** For the tray app: serves when a process of the same person asks over the local socket. */
  readonly isApp?: true;
}

/** home/run/trayclaw.sock; if that is too long, a private folder below the temporary folder; on Windows a named pipe. */
export function socketPathFor(home: string, platform: NodeJS.Platform, temporaryFolder: string): string {
  if (platform === 'win32') return `\\\\.\\pipe\\trayclaw-${hashOf(home)}`;
  const own = join(home, 'run', 'trayclaw.sock');
  return Buffer.byteLength(own) <= socketPathBytesMax ? own : temporarySocket(home, temporaryFolder);
}

function temporarySocket(home: string, temporaryFolder: string): string {
  return join(temporaryFolder, `trayclaw-${hashOf(home)}`, 'trayclaw.sock');
}

function hashOf(home: string): string {
  return createHash('sha256').update(home).digest('hex').slice(0, 16);
}

export class InstanceDoor implements AsyncLifetime {
  readonly token: string;
  readonly #options: InstanceDoorOptions;
  readonly #logger: Logger;
  readonly #door: HttpDoor;
  #socketPath: string;
  /** The port of the previous run, where its windows look for this one. */
  readonly #earlierPort: number | null;
  #listening: UrlListening | null = null;
  #opening: Promise<UrlListening> | null = null;
  #isOpen = false;

  constructor(options: InstanceDoorOptions) {
    this.#options = options;
    const crashed = readInstanceFile(options.home);
    const ended = takeEndedFile(options.home);
    this.token = tokenIn(crashed) ?? randomBytes(32).toString('base64url');
    this.#earlierPort = portIn(crashed) ?? ended?.port ?? null;
    this.#logger = options.logger;
    const asked = options.isApp === true ? { serve: (port?: number) => this.serve(port) } : {};
    this.#door = createHttpDoor({ ...options, ...asked, token: this.token, earlierToken: earlierTokenIn(ended) });
    this.#socketPath = socketPathFor(options.home, options.platform, options.temporaryFolder);
  }

  /** The number of operations of other processes in flight. */
  get openRequests(): number {
    return this.#door.openRequests;
  }

  get askedAgoMs(): number {
    return this.#door.askedAgoMs;
  }

  whenIdle(): Promise<void> {
    return this.#door.whenIdle();
  }

  /** Without a socket the instance still works, but no second process can join it. That is logged, not fatal. */
  async open(): Promise<void> {
    try {
      await this.#bind().catch((cause: unknown) => this.#bindElsewhere(cause));
      this.#isOpen = true;
      this.#announce();
    } catch (cause) {
      const { message, hint } = toAppError(cause);
      const reason = hint === undefined ? message : `${message} ${hint}`;
      this.#logger.log('warn', 'no local socket: other processes cannot join this instance', { reason });
    }
  }

  async #bind(): Promise<void> {
    if (this.#options.platform !== 'win32') prepareSocketFolder(this.#socketPath);
    await this.#door.listen({ socketPath: this.#socketPath });
    if (this.#options.platform !== 'win32') chmodSync(this.#socketPath, 0o600);
  }

  /** The disk of the data folder may have no sockets: a stick, a network folder. */
  #bindElsewhere(cause: unknown): Promise<void> {
    const { home, platform, temporaryFolder } = this.#options;
    const other = temporarySocket(home, temporaryFolder);
    if (platform === 'win32' || other === this.#socketPath || toAppError(cause).code === 'forbidden') throw cause;
    this.#socketPath = other;
    return this.#bind();
  }

  /** Serves the same operations and the window on 127.0.0.1. Fails with `port_in_use`. */
  async serve(port?: number): Promise<{ readonly url: string; readonly token: string }> {
    this.#opening ??= this.#listen(port);
    try {
      this.#listening = await this.#opening;
    } catch (cause) {
      this.#opening = null;
      throw cause;
    }
    this.#announce();
    return { url: this.#listening.url, token: this.token };
  }

  /**
   * Without a given port or one in the settings it uses the port of the previous run, where open windows look for it, or any free port if
   * another program uses that one.
   */
  async #listen(given: number | undefined): Promise<UrlListening> {
    const port = given ?? (await this.#options.claw.op('config.get', {})).config.doors.port;
    if (port !== undefined) return this.#door.listen({ port });
    if (this.#earlierPort === null) return this.#door.listen({});
    return this.#door.listen({ port: this.#earlierPort }).catch(() => this.#door.listen({}));
  }

  /** Removes the instance file first, then closes. */
  async dispose(): Promise<void> {
    const { home, clock } = this.#options;
    if (this.#isOpen) removeInstanceFile(home);
    if (this.#isOpen && this.#listening !== null)
      writeEndedFile(home, { tokenDigest: digestOf(this.token).toString('hex'), port: this.#listening.port, endedAtMs: clock.nowMs() });
    await this.#door.close();
    if (this.#isOpen && this.#options.platform !== 'win32') rmSync(this.#socketPath, { force: true });
    this.#isOpen = false;
  }

  #announce(): void {
    if (!this.#isOpen) return;
    const { home, pid, version, isApp } = this.#options;
    const url = this.#listening === null ? {} : { url: this.#listening.url };
    writeInstanceFile(home, { pid, socketPath: this.#socketPath, ...url, token: this.token, version, ...(isApp && { isApp }) });
  }
}

/**
 * The token of a crashed run, which open windows can continue to use. Only a crash leaves an instance file, and only this person can read
 * it. After a clean exit the next run has a new token, and open windows exchange their token for it.
 */
function tokenIn(crashed: InstanceRecord | null): string | null {
  const token = crashed?.token ?? '';
  return /^[\w-]{43}$/.test(token) ? token : null;
}

function portIn(crashed: InstanceRecord | null): number | null {
  const port = Number(/^http:\/\/127\.0\.0\.1:(\d{1,5})$/.exec(crashed?.url ?? '')?.[1] ?? 0);
  return port > 0 && port < 65_536 ? port : null;
}

function earlierTokenIn(ended: EndedRecord | null): EarlierToken | null {
  return ended === null ? null : { digest: ended.tokenDigest, untilMs: ended.endedAtMs + renewWithinMs };
}

/** The folder is private, which also covers the moment between bind and chmod. */
function prepareSocketFolder(socketPath: string): void {
  const folder = dirname(socketPath);
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) makeFolders({ mkdirSync, statSync }, folder);
  const loose = looseFolder(folder);
  if (loose !== null) throw new AppError('forbidden', loose, { hint: `Remove ${folder}, then start again.` });
  chmodSync(folder, 0o700);
  const stale = lstatSync(socketPath, { throwIfNoEntry: false });
  if (stale?.isSocket()) rmSync(socketPath);
}
