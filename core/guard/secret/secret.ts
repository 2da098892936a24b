// Resolves secret references from the configuration (keychain:NAME, env:NAME, file:PATH), and manages entries in keychain or vault. Every
// value is registered with the redactor before it is returned. No value is kept here, logged, or put into a message.

import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Logger } from '../../base/logger.ts';
import { secretRefSchema, type Config } from '../../contracts/config.ts';
import { AppError, isAppError, toAppError } from '../../contracts/errors.ts';
import { sleep } from '../../base/waits.ts';
import { readSecretFile } from './secret-file.ts';
import { KeytarKeychain } from './keychain.ts';
import { secretRefsOf } from './secret-refs.ts';
import { SecretStore, type SecretStatus } from './secret-store.ts';
import { Vault } from './vault.ts';

export { KeytarKeychain } from './keychain.ts';
export type { Keychain, KeytarCalls, KeytarKeychainOptions } from './keychain.ts';
export { SecretStore, type SecretStatus, type SecretStoreOptions } from './secret-store.ts';
export { Vault, type VaultOptions } from './vault.ts';

/** Receives every value that must be redacted. */
export interface SecretRegistrar {
  /** Returns false if the value could not be distinguished from ordinary text. */
  register(value: string, name: string): boolean;
  /** Redacts a text. `text` is the identical string if there is nothing to redact. */
  redact(text: string): { readonly text: string };
}

export interface SecretsOptions {
  readonly store: SecretStore;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly registrar: SecretRegistrar;
  readonly logger: Logger;
  /** The data folder. A relative `file:` path is resolved against it. */
  readonly home: string;
  /** The folder that `~` expands to. Defaults to the user's home folder. */
  readonly userHome?: string;
}

/** The vault's passphrase, for unattended machines. */
export const passphraseVariable = 'TRAYCLAW_VAULT_PASSPHRASE';
const NAME = /^[A-Za-z0-9._-]{1,100}$/;

export class Secrets {
  readonly #options: SecretsOptions;
  readonly #warned = new Set<string>();
  /** Names of keychain or vault entries that the configuration refers to. */
  #refNames: readonly string[] = [];
  #loading: Promise<void> = Promise.resolve();
  /** The part of `#loading` that reads the vault. */
  #vaultRead: Promise<void> = Promise.resolve();
  #isLoading = false;
  #unread: AppError | null = null;

  constructor(options: SecretsOptions) {
    this.#options = options;
  }

  /**
   * Opens the keychain and vault as configured. Values that can be read at once are registered on return; the others are read in the
   * background.
   */
  static open({ config, ...options }: Omit<SecretsOptions, 'store'> & { readonly config: Config }): Secrets {
    const { home, env } = options;
    const vault = new Vault({ path: join(home, 'secrets.vault'), passphrase: () => env[passphraseVariable] ?? null });
    const store = new SecretStore({ kind: config.secrets.store, keychain: new KeytarKeychain(), vault });
    const secrets = new Secrets({ ...options, store });
    const refs = secretRefsOf(config);
    secrets.registerKnown(refs);
    secrets.loadKept(refs);
    return secrets;
  }

  /**
   * Resolves a reference. The value is read again each time, so that a changed secret takes effect at once. Fails with `secret_missing`,
   * `keychain_unavailable`, `vault_locked`, `vault_damaged`, or `invalid_config` if the text is not a reference.
   */
  async resolve(ref: string): Promise<string> {
    if (!secretRefSchema.safeParse(ref).success) {
      // The text may be the secret itself, pasted in the wrong place, so the message does not repeat it.
      throw new AppError('invalid_config', 'A secret must be given as keychain:NAME, env:NAME or file:PATH, never as itself.');
    }
    const [source, name] = splitRef(ref);
    // The store may have been opened since the last attempt. The redactor must know all of its values before any is used.
    if (source === 'keychain' && this.#unread !== null && !this.#isLoading) await this.#load();
    const value = await this.#read(source, name);
    if (value === null || value === '') throw missing(source, name);
    const shown = source === 'file' ? (name.split(/[\\/]/).at(-1) ?? name) : name;
    if (!this.guard(value, shown) && !this.#warned.has(ref)) {
      this.#warned.add(ref);
      this.#options.logger.log('warn', 'A secret is too short to be kept out of logs and messages.', { ref });
    }
    return value;
  }

  /**
   * Registers a value with the redactor. Returns false if the value would match ordinary text; such a value can be used but is not
   * redacted.
   */
  guard(value: string, name: string): boolean {
    return this.#options.registrar.register(value, name);
  }

  /**
   * Fails with `invalid_params` (bad name, or only white space), `keychain_unavailable`, `vault_locked` or `vault_damaged`. Nothing is then
   * stored.
   */
  async set(name: string, value: string): Promise<{ readonly isKeptOut: boolean }> {
    checkName(name);
    if (value.trim() === '') throw new AppError('invalid_params', 'A secret must not be empty.', { data: { name } });
    const isKeptOut = this.guard(value, name);
    await this.#options.store.set(name, value);
    return { isKeptOut };
  }

  /** Returns the names of the entries, sorted, but never their values. */
  list(): Promise<readonly string[]> {
    return this.#options.store.list();
  }

  status(): Promise<SecretStatus> {
    return this.#options.store.status();
  }

  /** Opens the vault, or creates it. Its values are redacted from then on. */
  async unlock(passphrase: string): Promise<SecretStatus> {
    this.#options.registrar.register(passphrase, 'vault-passphrase');
    const status = await this.#options.store.unlock(passphrase);
    await this.#load();
    return status;
  }

  /**
   * Registers with the redactor everything that is available at once: values in the environment and in files that the configuration refers
   * to, and every environment variable whose name marks it as a secret. Never fails; a missing value is reported when it is needed.
   */
  registerKnown(refs: readonly string[]): void {
    const { env, registrar } = this.#options;
    for (const ref of refs) {
      const [source, name] = splitRef(ref);
      if (source === 'env') registrar.register(env[name] ?? '', name);
      if (source === 'file') this.#registerFile(name);
    }
    // Uses the rule for assignments, which judges a value by its name and form together. All are judged before the first is registered: each
    // new value costs the next redaction a table of all values.
    const marked = Object.entries(env).filter(([name, value]) => registrar.redact(`${name}=${value}`).text !== `${name}=${value}`);
    for (const [name, value] of marked) registrar.register(value ?? '', name);
    registrar.register(env[passphraseVariable] ?? '', 'vault-passphrase');
  }

  /**
   * Registers all values of the vault and those keychain values that the configuration refers to. Starts reading at once, and only if there
   * are any. Never fails; `whenKnown` resolves when it is done.
   */
  loadKept(refs: readonly string[]): void {
    this.#refNames = refs.map(splitRef).flatMap(([source, name]) => (source === 'keychain' ? [name] : []));
    if (this.#refNames.length > 0 || this.#options.store.hasVault) this.#loading = this.#load();
  }

  /**
   * No text of a person or a tool may be recorded before this resolves. A keychain may wait for a person, so it is awaited for at most
   * `timeoutMs`. Values not read by then cannot be redacted, and `unread` says why. The vault is always awaited: deriving its key takes
   * long on a busy machine, but finishes.
   */
  async whenKnown(timeoutMs: number): Promise<void> {
    await this.#vaultRead;
    if (!this.#isLoading) return this.#loading;
    const known = new AbortController();
    await Promise.race([this.#loading, sleep(timeoutMs, known.signal)]);
    known.abort();
    if (this.#isLoading) this.#unread ??= new AppError('keychain_unavailable', 'The keychain of this computer did not answer in time.');
  }

  /**
   * Why values of keychain or vault are unknown to the redactor, or null if all are known. Work that needs one of these values is refused.
   */
  get unread(): AppError | null {
    return this.#unread;
  }

  async #load(): Promise<void> {
    const { logger } = this.#options;
    this.#isLoading = true;
    let failure: unknown = null;
    const attempt = async (work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (cause) {
        failure ??= cause;
      }
    };
    // The vault is read first, so that an open vault is read even if the keychain is locked.
    this.#vaultRead = attempt(() => this.#registerVault());
    await this.#vaultRead;
    await attempt(() => this.#registerKeychain());
    this.#isLoading = false;
    this.#unread = failure === null ? null : toAppError(failure);
    if (failure !== null) logger.log('warn', 'stored secrets could not be read', { code: this.#unread?.code });
  }

  async #registerVault(): Promise<void> {
    const { store, registrar } = this.#options;
    for (const name of store.vaultNames()) registrar.register((await store.get(name)) ?? '', name);
  }

  /** Names in the vault are not looked up in the keychain. If no name is left, the keychain is not accessed at all. */
  async #registerKeychain(): Promise<void> {
    const { store, registrar } = this.#options;
    const kept = new Set(store.vaultNames());
    const others = this.#refNames.filter((name) => !kept.has(name));
    if (others.length === 0) return;
    for (const name of new Set([...others, ...(await store.list())]))
      if (!kept.has(name)) registrar.register((await store.get(name)) ?? '', name);
  }

  #registerFile(given: string): void {
    try {
      this.#options.registrar.register(this.#readFile(given), given.split(/[\\/]/).at(-1) ?? given);
    } catch (cause) {
      if (!isAppError(cause)) throw cause;
    }
  }

  async delete(name: string): Promise<boolean> {
    checkName(name);
    return this.#options.store.delete(name);
  }

  async #read(source: string, name: string): Promise<string | null> {
    if (source === 'keychain') return this.#options.store.get(name);
    if (source === 'env') return this.#options.env[name] ?? null;
    return this.#readFile(name);
  }

  #readFile(given: string): string {
    const path = this.#pathOf(given);
    const { value, isLoose } = readSecretFile(path);
    if (isLoose && !this.#warned.has(path)) {
      this.#warned.add(path);
      this.#options.logger.log('warn', 'Others can read a secret file; run chmod 600 on it.', { path });
    }
    return value;
  }

  #pathOf(given: string): string {
    if (/^~[\\/]/.test(given)) return join(this.#options.userHome ?? homedir(), given.slice(2));
    return isAbsolute(given) ? given : resolve(this.#options.home, given);
  }
}

function splitRef(ref: string): readonly [string, string] {
  const colon = ref.indexOf(':');
  return [ref.slice(0, colon), ref.slice(colon + 1)];
}

function checkName(name: string): void {
  if (NAME.test(name)) return;
  throw new AppError('invalid_params', 'The name of a secret is up to 100 letters, digits, dots, dashes or underscores.');
}

function missing(source: string, name: string): AppError {
  const hints: Readonly<Record<string, string>> = {
    keychain: `Set it with: trayclaw secret set ${name}`,
    env: `Export ${name} in the environment TrayClaw is started from.`,
    file: `Put the secret into ${name}; the file is empty.`,
  };
  const where = source === 'keychain' ? 'the keychain or the vault' : source === 'env' ? 'the environment' : 'its file';
  return new AppError('secret_missing', `There is no secret ${name} in ${where}.`, {
    data: { ref: `${source}:${name}` },
    hint: hints[source] ?? '',
  });
}
