// The encrypted vault: secrets in one file of the data folder, for machines without a keychain. Names can be read without the passphrase,
// values cannot. Keeps the key while unlocked, but never the passphrase. Each write replaces the whole file.

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseJson } from '../../base/json.ts';
import { renameOver } from '../../base/rename-over.ts';
import { syncFolder } from '../../base/sync-folder.ts';
import { AppError } from '../../contracts/errors.ts';
import {
  aboutBox,
  aboutSeal,
  checksumOf,
  deriveKey,
  newKdf,
  openBox,
  scryptCostDefault,
  sealBox,
  vaultSchema,
  type VaultContent,
  type VaultFile,
} from './vault-format.ts';

export interface VaultOptions {
  /** The file, created with mode 0600 by the first `unlock` or `set`. */
  readonly path: string;
  /** Used if the vault is needed while locked. Returns null if there is no passphrase. */
  readonly passphrase: () => string | null;
  /** The cost of deriving a key for a new vault. Defaults to 2^17. */
  readonly scryptCost?: number;
}

const FILE_BYTES_MAX = 16 * 1024 * 1024;
export const passphraseLengthMin = 8;

export class Vault {
  readonly #options: VaultOptions;
  #key: Buffer | null = null;
  /** Changes run one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: VaultOptions) {
    this.#options = options;
  }

  get exists(): boolean {
    return statSync(this.#options.path, { throwIfNoEntry: false }) !== undefined;
  }

  get isLocked(): boolean {
    return this.#key === null;
  }

  /** Sorted. Needs no passphrase. Fails with `vault_damaged`. */
  names(): readonly string[] {
    return Object.keys(this.#read()?.entries ?? {}).sort();
  }

  /**
   * Derives the key, and creates the vault if there is none. Fails with `vault_locked` (wrong passphrase), `vault_damaged`, or
   * `invalid_params` (a new passphrase under 8 characters).
   */
  unlock(passphrase: string): Promise<void> {
    return this.#inTurn(() => this.#unlock(passphrase));
  }

  lock(): void {
    this.#key?.fill(0);
    this.#key = null;
  }

  /** Returns null if there is no such entry. Fails with `vault_locked` or `vault_damaged`. */
  get(name: string): Promise<string | null> {
    return this.#inTurn(async () => {
      const box = this.#read()?.entries[name];
      if (box === undefined) return null;
      const key = await this.#needKey();
      const file = this.#read();
      const value = file === null ? null : openBox(key, aboutBox('entry', name, file.kdf), box);
      if (value === null) throw damaged(this.#options.path, `the entry ${name} does not open`);
      return value;
    });
  }

  set(name: string, value: string): Promise<void> {
    return this.#inTurn(async () => {
      const key = await this.#needKey();
      const file = this.#sound(key);
      this.#write(key, { ...file, entries: { ...file.entries, [name]: sealBox(key, aboutBox('entry', name, file.kdf), value) } });
    });
  }

  /** Returns false if there was no such entry. */
  delete(name: string): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.#read()?.entries[name] === undefined) return false;
      const key = await this.#needKey();
      const file = this.#sound(key);
      const { [name]: _, ...entries } = file.entries;
      this.#write(key, { ...file, entries });
      return true;
    });
  }

  async #needKey(): Promise<Buffer> {
    if (this.#key !== null) return this.#key;
    const passphrase = this.#options.passphrase();
    if (passphrase !== null) await this.#unlock(passphrase);
    if (this.#key === null)
      throw locked(this.exists ? 'The secret vault is locked.' : 'There is no keychain here and no secret vault yet.');
    return this.#key;
  }

  async #unlock(passphrase: string): Promise<void> {
    const file = this.#read();
    if (file === null) {
      await this.#create(passphrase);
      return;
    }
    const key = await deriveKey(passphrase, file.kdf);
    if (openBox(key, aboutBox('check', '', file.kdf), file.check) === null) throw locked('The passphrase of the secret vault is wrong.');
    this.#key = key;
    try {
      this.#sound(key);
    } catch (cause) {
      this.lock();
      throw cause;
    }
  }

  async #create(passphrase: string): Promise<void> {
    if (passphrase.length < passphraseLengthMin)
      throw new AppError('invalid_params', `The passphrase of a new vault needs at least ${passphraseLengthMin} characters.`);
    const kdf = newKdf(this.#options.scryptCost ?? scryptCostDefault);
    const key = await deriveKey(passphrase, kdf);
    const check = sealBox(key, aboutBox('check', '', kdf), '');
    this.#write(key, { format: 'trayclaw-vault', version: 1, kdf, check, seal: check, entries: {} });
    this.#key = key;
  }

  /** Returns the content after verifying that nothing was changed outside the vault. */
  #sound(key: Buffer): VaultContent {
    const file = this.#read();
    if (file === null) throw damaged(this.#options.path, 'it is missing');
    if (openBox(key, aboutSeal(file.kdf, file.entries), file.seal) === null) throw damaged(this.#options.path, 'its entries were changed');
    const { checksum: _, ...content } = file;
    return content;
  }

  /** Returns null if there is no file. Fails with `vault_damaged`. */
  #read(): VaultFile | null {
    const { path } = this.#options;
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return null;
    if (!stat.isFile() || stat.size > FILE_BYTES_MAX) throw damaged(path, 'it is not a file of the right kind');
    const parsed = parseJson(readFileSync(path, 'utf8'));
    if (!parsed.ok) throw damaged(path, 'it is not whole');
    const file = vaultSchema.safeParse(parsed.value);
    if (!file.success) throw damaged(path, 'it has not the form of a vault of this version');
    const { checksum, ...content } = file.data;
    if (checksum !== checksumOf(content)) throw damaged(path, 'its checksum is wrong');
    return file.data;
  }

  #write(key: Buffer, content: VaultContent): void {
    const sealed = { ...content, seal: sealBox(key, aboutSeal(content.kdf, content.entries), '') };
    writeWhole(this.#options.path, JSON.stringify({ ...sealed, checksum: checksumOf(sealed) }, null, 1) + '\n');
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    // The next change waits until this one settles.
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}

/** Syncs the new file before it replaces the old one. After a crash, one of the two exists in full. */
function writeWhole(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  const handle = openSync(temporary, 'wx', 0o600);
  try {
    const bytes = Buffer.from(text);
    for (let written = 0; written < bytes.length;) written += writeSync(handle, bytes, written);
    fsyncSync(handle);
  } catch (cause) {
    rmSync(temporary, { force: true });
    throw new AppError('store_failed', 'The secret vault could not be written.', { cause });
  } finally {
    closeSync(handle);
  }
  renameOver({ renameSync }, temporary, path);
  syncFolder({ openSync, fsyncSync, closeSync }, dirname(path));
}

function locked(message: string): AppError {
  return new AppError('vault_locked', message);
}

function damaged(path: string, why: string): AppError {
  return new AppError('vault_damaged', `The secret vault cannot be used: ${why}.`, { data: { path } });
}
