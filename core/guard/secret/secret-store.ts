// Stores secrets in the keychain, or in the vault if the configuration says so, if a vault exists, or if there is no keychain. A keychain
// that exists but is locked is reported as an error and never a reason to use the vault instead.

import { counted } from '../../base/counted.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import type { Config } from '../../contracts/config.ts';
import type { Keychain } from './keychain.ts';
import type { Vault } from './vault.ts';

export interface SecretStatus {
  readonly store: 'keychain' | 'vault' | 'none';
  readonly locked: boolean;
  readonly hasVault: boolean;
  readonly detail: string;
}

export interface SecretStoreOptions {
  readonly kind: Config['secrets']['store'];
  readonly keychain: Keychain;
  readonly vault: Vault;
}

export class SecretStore {
  readonly #options: SecretStoreOptions;

  constructor(options: SecretStoreOptions) {
    this.#options = options;
  }

  /** Checks both stores if the configuration leaves the choice. Returns null if neither contains the entry. */
  async get(name: string): Promise<string | null> {
    const { kind, keychain, vault } = this.#options;
    if (kind === 'keychain') return keychain.get(name);
    const kept = await vault.get(name);
    if (kept !== null || kind === 'vault') return kept;
    return this.#orVault(() => keychain.get(name), null);
  }

  get hasVault(): boolean {
    return this.#options.kind !== 'keychain' && this.#options.vault.exists;
  }

  /** Fails with `vault_damaged`. */
  vaultNames(): readonly string[] {
    return this.hasVault ? this.#options.vault.names() : [];
  }

  async set(name: string, value: string): Promise<void> {
    const { kind, keychain, vault } = this.#options;
    if (kind === 'vault' || (kind === 'auto' && vault.exists)) return vault.set(name, value);
    try {
      await keychain.set(name, value);
    } catch (cause) {
      if (kind === 'keychain' || !isAbsent(cause)) throw cause;
      await vault.set(name, value);
    }
  }

  async delete(name: string): Promise<boolean> {
    const { kind, keychain, vault } = this.#options;
    const wasInVault = kind !== 'keychain' && vault.exists && (await vault.delete(name));
    if (kind === 'vault') return wasInVault;
    const ask = (): Promise<boolean> => keychain.delete(name);
    const wasInKeychain = kind === 'keychain' ? await ask() : await ifThere(ask, false);
    return wasInVault || wasInKeychain;
  }

  /** Sorted and distinct. */
  async list(): Promise<readonly string[]> {
    const { kind, keychain, vault } = this.#options;
    const kept = kind === 'keychain' ? [] : vault.names();
    const others = kind === 'vault' ? [] : await this.#orVault(() => keychain.list(), []);
    return [...new Set([...kept, ...others])].sort();
  }

  async status(): Promise<SecretStatus> {
    return { ...(await this.#state()), hasVault: this.#options.vault.exists };
  }

  async #state(): Promise<Omit<SecretStatus, 'hasVault'>> {
    const { kind, vault } = this.#options;
    try {
      if (kind === 'vault' || (kind === 'auto' && vault.exists)) return this.#vaultState();
      await this.#options.keychain.list();
      return { store: 'keychain', locked: false, detail: 'Secrets are kept in the keychain of this computer.' };
    } catch (cause) {
      if (!isAppError(cause)) throw cause;
      if (cause.code === 'keychain_unavailable' && cause.data['state'] === 'locked')
        return { store: 'keychain', locked: true, detail: `${cause.message} ${cause.hint ?? ''}`.trim() };
      const detail = isAbsent(cause) && kind === 'auto' ? `${cause.message} ${makeVault}` : `${cause.message} ${cause.hint ?? ''}`.trim();
      return { store: cause.code === 'vault_damaged' ? 'vault' : 'none', locked: false, detail };
    }
  }

  /**
   * Creates the vault if there is none. Fails with `conflict` if the configuration allows only the keychain, and in the same cases as
   * `Vault.unlock`.
   */
  async unlock(passphrase: string): Promise<SecretStatus> {
    if (this.#options.kind === 'keychain') {
      throw new AppError('conflict', 'Secrets are kept in the keychain: there is nothing to unlock here.', {
        hint: 'To use a vault set secrets.store to vault or auto in config.yaml.',
      });
    }
    await this.#options.vault.unlock(passphrase);
    return this.status();
  }

  #vaultState(): Omit<SecretStatus, 'hasVault'> {
    const { vault } = this.#options;
    if (!vault.exists) return { store: 'vault', locked: true, detail: makeVault };
    const count = vault.names().length;
    const kept = `Secrets are kept in an encrypted vault in the data folder (${counted(count, 'entry', 'entries')}).`;
    return { store: 'vault', locked: vault.isLocked, detail: vault.isLocked ? `${kept} It is locked: trayclaw secret unlock` : kept };
  }

  /** A missing keychain is not a failure if the vault may be used instead. */
  async #orVault<T>(ask: () => Promise<T>, otherwise: T): Promise<T> {
    if (this.#options.kind === 'keychain') return ask();
    return this.#options.vault.exists ? ifThere(ask, otherwise) : ask();
  }
}

const makeVault = 'An encrypted vault can take its place: run "trayclaw secret unlock".';

const isAbsent = (cause: unknown): boolean =>
  isAppError(cause) && cause.code === 'keychain_unavailable' && cause.data['state'] === 'absent';

async function ifThere<T>(ask: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (isAbsent(cause)) return otherwise;
    throw cause;
  }
}
