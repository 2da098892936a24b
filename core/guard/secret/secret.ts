// Turns secret references from config (keychain:NAME, env:NAME, file:PATH) into values, and keeps entries in keychain or vault.
// Every value is told to the redactor before it is handed out; no value is ever kept here, logged, or put into a message.

import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Logger } from '../../base/logger.ts';
import { secretRefSchema, type Config } from '../../contracts/config.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import { readSecretFile } from './secret-file.ts';
import type { SecretStatus, SecretStore } from './secret-store.ts';

export { KeytarKeychain } from './keychain.ts';
export type { Keychain, KeytarCalls, KeytarKeychainOptions } from './keychain.ts';
export { SecretStore, type SecretStatus, type SecretStoreOptions } from './secret-store.ts';
export { Vault, type VaultOptions } from './vault.ts';

/** Who must know a value to keep it out of sight. */
export interface SecretRegistrar {
  /** False for a value that could not be told from ordinary text. */
  register(value: string, name: string): boolean;
  /** What would be taken out of a text; `text` is the very same when nothing would. */
  redact(text: string): { readonly text: string };
}

export interface SecretsOptions {
  readonly store: SecretStore;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly registrar: SecretRegistrar;
  readonly logger: Logger;
  /** The data folder; a relative `file:` path starts there. */
  readonly home: string;
  /** What `~` stands for; the user's home folder unless told. */
  readonly userHome?: string;
}

/** The vault's passphrase, for machines nobody sits at. */
export const passphraseVariable = 'TRAYCLAW_VAULT_PASSPHRASE';
const NAME = /^[A-Za-z0-9._-]{1,100}$/;

export class Secrets {
  readonly #options: SecretsOptions;
  readonly #warned = new Set<string>();

  constructor(options: SecretsOptions) {
    this.#options = options;
  }

  /**
   * The value behind a reference, read anew each time so that a changed secret holds at once.
   * Fails with `secret_missing`, `keychain_unavailable`, `vault_locked`, `vault_damaged`, or `invalid_config` (not a reference).
   */
  async resolve(ref: string): Promise<string> {
    if (!secretRefSchema.safeParse(ref).success) {
      // The text itself may be the secret, pasted in the wrong place: it is not repeated.
      throw new AppError('invalid_config', 'A secret must be given as keychain:NAME, env:NAME or file:PATH, never as itself.');
    }
    const [source, name] = splitRef(ref);
    const value = await this.#read(source, name);
    if (value === null || value === '') throw missing(source, name);
    const shown = source === 'file' ? (name.split(/[\\/]/).at(-1) ?? name) : name;
    if (!this.guard(value, shown) && !this.#warned.has(ref)) {
      this.#warned.add(ref);
      this.#options.logger.log('warn', 'A secret is too short to be kept out of logs and messages.', { ref });
    }
    return value;
  }

  /** Tells the redactor. False for a value it would find in ordinary text: that one is used, and not taken out of anything. */
  guard(value: string, name: string): boolean {
    return this.#options.registrar.register(value, name);
  }

  /** Fails with `invalid_params` (name, or nothing but white space), `keychain_unavailable`, `vault_locked` or `vault_damaged`; then nothing was kept. */
  async set(name: string, value: string): Promise<{ readonly isKeptOut: boolean }> {
    checkName(name);
    if (value.trim() === '') throw new AppError('invalid_params', 'A secret must not be empty.', { data: { name } });
    const isKeptOut = this.guard(value, name);
    await this.#options.store.set(name, value);
    return { isKeptOut };
  }

  /** The names of the entries, sorted; never their values. */
  list(): Promise<readonly string[]> {
    return this.#options.store.list();
  }

  status(): Promise<SecretStatus> {
    return this.#options.store.status();
  }

  /** Opens the vault, or makes one; what it holds is kept out of sight from then on. */
  async unlock(passphrase: string): Promise<SecretStatus> {
    this.#options.registrar.register(passphrase, 'vault-passphrase');
    const status = await this.#options.store.unlock(passphrase);
    await this.#registerKept();
    return status;
  }

  /**
   * Tells the redactor what can be told at once: values the config refers to in the environment and in files, and everything in the
   * environment whose name says that it is a secret. Never fails; what is missing is told when it is needed.
   */
  registerKnown(refs: readonly string[]): void {
    const { env, registrar } = this.#options;
    for (const ref of refs) {
      const [source, name] = splitRef(ref);
      if (source === 'env') registrar.register(env[name] ?? '', name);
      if (source === 'file') this.#registerFile(name);
    }
    for (const [name, value] of Object.entries(env)) {
      // By the rule for assignments: its name and its form both say so.
      if (value !== undefined && registrar.redact(`${name}=${value}`).text !== `${name}=${value}`) registrar.register(value, name);
    }
    registrar.register(env[passphraseVariable] ?? '', 'vault-passphrase');
  }

  /** The rest, in the background: what the keychain or an open vault holds, where the config refers to it. */
  async registerStored(refs: readonly string[]): Promise<void> {
    if (refs.some((ref) => ref.startsWith('keychain:'))) await this.#registerKept();
  }

  async #registerKept(): Promise<void> {
    const { store, registrar, logger } = this.#options;
    try {
      for (const name of await store.list()) registrar.register((await store.get(name)) ?? '', name);
    } catch (cause) {
      // Told to whoever asks for a value; here only the redactor lacks what nobody was given yet.
      logger.log('info', 'stored secrets could not be looked through', { code: isAppError(cause) ? cause.code : 'internal' });
    }
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

/** Every reference to a secret in the settings. */
export function secretRefsOf({ providers, channels, signals }: Pick<Config, 'providers' | 'channels' | 'signals'>): string[] {
  const hooks = Object.values(signals.webhooks).map(({ secret }) => secret);
  const keys = Object.values(providers).map((provider) => ('apiKey' in provider ? provider.apiKey : undefined));
  return [...keys, channels.telegram?.token, ...hooks].filter((ref) => ref !== undefined);
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
    data: { ref: `${source}:${name}`, hint: hints[source] ?? '' },
  });
}
