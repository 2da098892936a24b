// Makes a hosted runtime reachable for other processes of the same person: a local socket and instance.json, and on request a port. Only
// the owner of the data folder's lock may open one, so leftovers of an earlier instance can be removed.

import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolders } from '../../base/make-folders.ts';
import type { AsyncLifetime } from '../../base/disposable.ts';
import type { Logger } from '../../base/logger.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import { createHttpDoor, type HttpDoor, type HttpDoorOptions, type UrlListening } from './http-door.ts';
import { earlierInstance, endInstanceFile, looseFolder, writeInstanceFile, type InstanceRecord } from '../../store/home/home.ts';

/** A Unix socket path longer than this does not fit sockaddr_un everywhere (104 bytes on macOS, 108 on Linux). */
const socketPathBytesMax = 100;

export interface InstanceDoorOptions extends Omit<HttpDoorOptions, 'token'> {
  readonly home: string;
  readonly pid: number;
  readonly platform: NodeJS.Platform;
  readonly temporaryFolder: string;
}

/** home/run/trayclaw.sock; a private folder below the temporary one when that is too long; a named pipe on Windows. */
export function socketPathFor(home: string, platform: NodeJS.Platform, temporaryFolder: string): string {
  const hash = createHash('sha256').update(home).digest('hex').slice(0, 16);
  if (platform === 'win32') return `\\\\.\\pipe\\trayclaw-${hash}`;
  const own = join(home, 'run', 'trayclaw.sock');
  return Buffer.byteLength(own) <= socketPathBytesMax ? own : join(temporaryFolder, `trayclaw-${hash}`, 'trayclaw.sock');
}

export class InstanceDoor implements AsyncLifetime {
  readonly token: string;
  readonly #options: InstanceDoorOptions;
  readonly #logger: Logger;
  readonly #door: HttpDoor;
  readonly #socketPath: string;
  /** Where open windows look for the program. */
  readonly #formerUrl: string | undefined;
  #listening: UrlListening | null = null;
  #isOpen = false;

  constructor(options: InstanceDoorOptions) {
    this.#options = options;
    const { token = '', url } = earlierInstance(options.home, options.clock.nowMs()) ?? {};
    this.token = TOKEN_FORM.test(token) ? token : randomBytes(32).toString('base64url');
    this.#formerUrl = url;
    this.#logger = options.logger;
    this.#door = createHttpDoor({ ...options, token: this.token });
    this.#socketPath = socketPathFor(options.home, options.platform, options.temporaryFolder);
  }

  /** Operations of other processes under way. */
  get openRequests(): number {
    return this.#door.openRequests;
  }

  whenIdle(): Promise<void> {
    return this.#door.whenIdle();
  }

  /** Without a socket the instance still works, only no second process can join it; that is logged, not fatal. */
  async open(): Promise<void> {
    try {
      if (this.#options.platform !== 'win32') prepareSocketFolder(this.#socketPath);
      await this.#door.listen({ socketPath: this.#socketPath });
      if (this.#options.platform !== 'win32') chmodSync(this.#socketPath, 0o600);
      this.#isOpen = true;
      this.#announce();
    } catch (cause) {
      this.#logger.log('warn', 'no local socket: other processes cannot join this instance', { reason: toAppError(cause).message });
    }
  }

  /** Serves the same operations and the window on 127.0.0.1. Fails with `port_in_use`. */
  async serve(port?: number): Promise<{ readonly url: string; readonly token: string }> {
    this.#listening ??= await (port === undefined ? this.#listenAnywhere() : this.#door.listen({ port }));
    this.#announce();
    return { url: this.#listening.url, token: this.token };
  }

  async #listenAnywhere(): Promise<UrlListening> {
    const [, port] = /^http:\/\/127\.0\.0\.1:(\d{1,5})$/.exec(this.#formerUrl ?? '') ?? [];
    if (port !== undefined) {
      try {
        return await this.#door.listen({ port: Number(port) });
      } catch {
        // Another program has it by now: open windows have to be opened again.
      }
    }
    return this.#door.listen({});
  }

  /** First removes the instance file, then closes. */
  async dispose(): Promise<void> {
    if (this.#isOpen) endInstanceFile(this.#options.home, this.#record(this.#formerUrl));
    await this.#door.close();
    if (this.#isOpen && this.#options.platform !== 'win32') rmSync(this.#socketPath, { force: true });
    this.#isOpen = false;
  }

  #announce(): void {
    if (this.#isOpen) writeInstanceFile(this.#options.home, this.#record());
  }

  #record(elseUrl?: string): InstanceRecord {
    const { pid, version } = this.#options;
    return { pid, socketPath: this.#socketPath, url: this.#listening?.url ?? elseUrl, token: this.token, version };
  }
}

/** 256 bits in base64url. */
const TOKEN_FORM = /^[\w-]{43}$/;

/** The folder keeps everyone else out, so the moment between bind and chmod is covered as well. */
function prepareSocketFolder(socketPath: string): void {
  const folder = dirname(socketPath);
  makeFolders({ mkdirSync, statSync }, folder);
  const loose = looseFolder(folder);
  if (loose !== null) throw new AppError('forbidden', loose, { data: { hint: `Remove ${folder}, then start again.` } });
  chmodSync(folder, 0o700);
  const stale = lstatSync(socketPath, { throwIfNoEntry: false });
  if (stale?.isSocket()) rmSync(socketPath);
}
