// The operating system's keychain behind a port. The only file that knows keytar; it is loaded at first use.
// A keychain that is absent, locked or silent is `keychain_unavailable`, with `state` in its data; values are never part of a message.

import { sleep } from '../../base/deferred.ts';
import { AppError } from '../../contracts/errors.ts';
import { stateOfKeychain, type KeychainState } from './keychain-errors.ts';

export interface Keychain {
  /** Null where there is no such entry. */
  get(name: string): Promise<string | null>;
  set(name: string, value: string): Promise<void>;
  /** False where there was nothing to delete. */
  delete(name: string): Promise<boolean>;
  list(): Promise<readonly string[]>;
}

/** The part of keytar used here. */
export interface KeytarCalls {
  getPassword(service: string, account: string): Promise<string | null>;
  setPassword(service: string, account: string, password: string): Promise<void>;
  deletePassword(service: string, account: string): Promise<boolean>;
  findCredentials(service: string): Promise<readonly { readonly account: string }[]>;
}

export interface KeytarKeychainOptions {
  readonly load?: () => Promise<KeytarCalls>;
  /** A locked keychain may wait for a person; after this long it counts as unavailable. */
  readonly timeoutMs?: number;
}

const SERVICE = 'trayclaw';

export class KeytarKeychain implements Keychain {
  readonly #load: () => Promise<KeytarCalls>;
  readonly #timeoutMs: number;

  constructor(options: KeytarKeychainOptions = {}) {
    this.#load = options.load ?? loadKeytar;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
  }

  get(name: string): Promise<string | null> {
    return this.#ask((keytar) => keytar.getPassword(SERVICE, name));
  }

  set(name: string, value: string): Promise<void> {
    return this.#ask((keytar) => keytar.setPassword(SERVICE, name, value));
  }

  delete(name: string): Promise<boolean> {
    return this.#ask((keytar) => keytar.deletePassword(SERVICE, name));
  }

  list(): Promise<readonly string[]> {
    return this.#ask(async (keytar) => (await keytar.findCredentials(SERVICE)).map((entry) => entry.account).sort());
  }

  async #ask<T>(question: (keytar: KeytarCalls) => Promise<T>): Promise<T> {
    const answered = new AbortController();
    const tooLate = sleep(this.#timeoutMs, answered.signal).then((): never => {
      throw unavailable('locked', 'did not answer in time');
    });
    // Once answered, the timer ends early and its refusal concerns nobody.
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
  const hint = state === 'locked' ? { hint: 'Unlock it (on Linux: log in to the desktop, or open its password manager) and try again.' } : {};
  return new AppError('keychain_unavailable', `The keychain of this computer ${how}.`, { data: { state, ...hint }, cause });
}

async function loadKeytar(): Promise<KeytarCalls> {
  const loaded = await import('keytar');
  return loaded.default;
}
