// The operating system's keychain behind a port. The only file that uses keytar, which is loaded lazily. A keychain that is absent, locked
// or silent fails with `keychain_unavailable`, with `state` in its data. Values are never part of a message.

import { sleep } from '../../base/waits.ts';
import { parseJson } from '../../base/json.ts';
import { AppError } from '../../contracts/errors.ts';
import { stateOfKeychain, type KeychainState } from './keychain-errors.ts';

export interface Keychain {
  /** Returns null if there is no such entry. */
  get(name: string): Promise<string | null>;
  set(name: string, value: string): Promise<void>;
  /** Returns false if there was no such entry. */
  delete(name: string): Promise<boolean>;
  list(): Promise<readonly string[]>;
}

/**
 * The functions of keytar used here. Excludes findCredentials: on a locked Secret Service it crashes the whole process with a segmentation
 * fault (keytar 7.10 with libsecret 0.20), so the names are kept in a separate entry.
 */
export interface KeytarCalls {
  getPassword(service: string, account: string): Promise<string | null>;
  setPassword(service: string, account: string, password: string): Promise<void>;
  deletePassword(service: string, account: string): Promise<boolean>;
}

export interface KeytarKeychainOptions {
  readonly load?: () => Promise<KeytarCalls>;
  /** A locked keychain may wait for a person. After this time, it counts as unavailable. */
  readonly timeoutMs?: number;
}

const SERVICE = 'trayclaw';
/** The names of all entries, as a JSON list. */
const INDEX = { service: 'trayclaw-index', account: 'names' };

export class KeytarKeychain implements Keychain {
  readonly #load: () => Promise<KeytarCalls>;
  readonly #timeoutMs: number;
  /** Changes of the index run one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: KeytarKeychainOptions = {}) {
    this.#load = options.load ?? loadKeytar;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
  }

  get(name: string): Promise<string | null> {
    return this.#ask(async (keytar) => {
      const value = await keytar.getPassword(SERVICE, name);
      if (value === null) await this.#assertReadable(keytar);
      return value;
    });
  }

  set(name: string, value: string): Promise<void> {
    return this.#change(async (keytar) => {
      const names = await readIndex(keytar);
      await keytar.setPassword(SERVICE, name, value);
      if (!names.includes(name)) await writeIndex(keytar, [...names, name]);
    });
  }

  delete(name: string): Promise<boolean> {
    return this.#change(async (keytar) => {
      const names = await readIndex(keytar);
      const deleted = await keytar.deletePassword(SERVICE, name);
      if (!deleted) await this.#assertReadable(keytar);
      if (names.includes(name))
        await writeIndex(
          keytar,
          names.filter((kept) => kept !== name),
        );
      return deleted;
    });
  }

  list(): Promise<readonly string[]> {
    return this.#ask(async (keytar) => {
      await this.#assertReadable(keytar);
      return readIndex(keytar);
    });
  }

  /** A locked Secret Service reports every entry as missing, but refuses new entries with an error. */
  async #assertReadable(keytar: KeytarCalls): Promise<void> {
    if ((await keytar.getPassword(INDEX.service, INDEX.account)) === null) await writeIndex(keytar, []);
  }

  #change<T>(change: (keytar: KeytarCalls) => Promise<T>): Promise<T> {
    const mine = this.#last.then(() => this.#ask(change));
    // The next change waits until this one settles.
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  async #ask<T>(question: (keytar: KeytarCalls) => Promise<T>): Promise<T> {
    const answered = new AbortController();
    const tooLate = sleep(this.#timeoutMs, answered.signal).then((): never => {
      throw unavailable('locked', 'did not answer in time');
    });
    // After an answer, the timer ends early and its rejection is ignored.
    tooLate.catch(() => undefined);
    try {
      return await Promise.race([this.#load().then(question), tooLate]);
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      const state = stateOfKeychain(cause);
      throw unavailable(state, state === 'locked' ? 'is locked' : 'cannot be used', cause);
    } finally {
      answered.abort();
    }
  }
}

function unavailable(state: KeychainState, how: string, cause?: unknown): AppError {
  const hint =
    state === 'locked'
      ? {
          hint: 'Unlock it (on Linux: log in to the desktop, or open its password manager) and try again, or set secrets.store to vault in config.yaml.',
        }
      : {};
  return new AppError('keychain_unavailable', `The keychain of this computer ${how}.`, { data: { state, ...hint }, cause });
}

/** Sorted. */
async function readIndex(keytar: KeytarCalls): Promise<readonly string[]> {
  const parsed = parseJson((await keytar.getPassword(INDEX.service, INDEX.account)) ?? '[]');
  return parsed.ok && Array.isArray(parsed.value) ? parsed.value.filter((name) => typeof name === 'string').sort() : [];
}

function writeIndex(keytar: KeytarCalls, names: readonly string[]): Promise<void> {
  return keytar.setPassword(INDEX.service, INDEX.account, JSON.stringify(names));
}

async function loadKeytar(): Promise<KeytarCalls> {
  const loaded = await import('keytar');
  return loaded.default;
}
