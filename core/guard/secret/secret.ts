// Turns secret references from config (keychain:NAME, env:NAME, file:PATH) into values, and keeps the keychain's entries.
// Every value is told to the redactor before it is handed out; no value is ever kept here, logged, or put into a message.

import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Logger } from '../../base/logger.ts';
import { secretRefSchema } from '../../contracts/config.ts';
import { AppError } from '../../contracts/errors.ts';
import type { Keychain } from './keychain.ts';
import { readSecretFile } from './secret-file.ts';

export { KeytarKeychain } from './keychain.ts';
export type { Keychain, KeytarCalls, KeytarKeychainOptions } from './keychain.ts';

/** Who must know a value to keep it out of sight. */
export interface SecretRegistrar {
  register(value: string, name: string): void;
}

export interface SecretVaultOptions {
  readonly keychain: Keychain;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly registrar: SecretRegistrar;
  readonly logger: Logger;
  /** The data folder; a relative `file:` path starts there. */
  readonly home: string;
  /** What `~` stands for; the user's home folder unless told. */
  readonly userHome?: string;
}

/** Shorter values cannot be told from ordinary text, so they cannot be kept out of logs. */
export const secretLengthMin = 8;
const NAME = /^[A-Za-z0-9._-]{1,100}$/;

export class SecretVault {
  readonly #options: SecretVaultOptions;
  readonly #warned = new Set<string>();

  constructor(options: SecretVaultOptions) {
    this.#options = options;
  }

  /**
   * The value behind a reference, read anew each time so that a changed secret holds at once.
   * Fails with `secret_missing`, `keychain_unavailable`, or `invalid_config` (not a reference, or shorter than 8 characters).
   */
  async resolve(ref: string): Promise<string> {
    if (!secretRefSchema.safeParse(ref).success) {
      // The text itself may be the secret, pasted in the wrong place: it is not repeated.
      throw new AppError('invalid_config', 'A secret must be given as keychain:NAME, env:NAME or file:PATH, never as itself.');
    }
    const [source, name] = splitRef(ref);
    const value = await this.#read(source, name);
    if (value === null || value === '') throw missing(source, name);
    if (value.length < secretLengthMin) {
      throw new AppError('invalid_config', `The secret ${ref} is shorter than ${secretLengthMin} characters.`, {
        data: { ref, hint: 'Set a longer one: a shorter secret cannot be kept out of logs and messages.' },
      });
    }
    this.#options.registrar.register(value, source === 'file' ? (name.split(/[\\/]/).at(-1) ?? name) : name);
    return value;
  }

  /** Stores a value in the keychain. Fails with `invalid_params` (name or length) or `keychain_unavailable`. */
  async set(name: string, value: string): Promise<void> {
    checkName(name);
    if (value.length < secretLengthMin) {
      throw new AppError('invalid_params', `A secret needs at least ${secretLengthMin} characters.`, { data: { name } });
    }
    this.#options.registrar.register(value, name);
    await this.#options.keychain.set(name, value);
  }

  /** The names of the keychain's entries, sorted; never their values. */
  list(): Promise<readonly string[]> {
    return this.#options.keychain.list();
  }

  async delete(name: string): Promise<boolean> {
    checkName(name);
    return this.#options.keychain.delete(name);
  }

  async #read(source: string, name: string): Promise<string | null> {
    if (source === 'keychain') return this.#options.keychain.get(name);
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
  const where = source === 'keychain' ? 'the keychain' : source === 'env' ? 'the environment' : 'its file';
  return new AppError('secret_missing', `There is no secret ${name} in ${where}.`, {
    data: { ref: `${source}:${name}`, hint: hints[source] ?? '' },
  });
}
