// The lock file, which is written from the rows for people and other machines, and the cache of installed packages, which makes it usable
// without a network. Neither is trusted: their content is checked against hashes, and shown again before it is installed.

import * as fs from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { parseJson } from '../../base/json.ts';
import { replaceFile } from '../../base/rename-over.ts';
import { AppError, noPath, unreadable } from '../../contracts/errors.ts';
import { type LockEntry, lockEntrySchema } from '../../contracts/features/skill-store.ts';
import { readArchive, type ReadPackage } from './read-package.ts';

const lockSchema = z.object({ version: z.literal(1), skills: z.array(lockEntrySchema).max(10_000) });
const LOCK_BYTES_MAX = 100_000_000;
const CACHE_BYTES_MAX = 200_000_000;

export const lockFileName = 'skills-lock.json';

export function writeLock(home: string, skills: readonly LockEntry[]): string {
  const path = join(home, lockFileName);
  replaceFile(fs, path, `${JSON.stringify({ version: 1, skills }, null, 2)}\n`);
  return path;
}

/** Fails with not_found or invalid_params. */
export function readLock(path: string): readonly LockEntry[] {
  if (!fs.existsSync(path)) throw noPath('lock file', path);
  const unusable = (why: string) =>
    new AppError('invalid_params', `${path} is not a lock file of skills: ${why}.`, { hint: 'Nothing was changed.' });
  if (fs.statSync(path).size > LOCK_BYTES_MAX) throw unusable(`it is larger than ${LOCK_BYTES_MAX / 1_000_000} MB`);
  const json = parseJson(textOf(path));
  const parsed = json.ok ? lockSchema.safeParse(json.value) : null;
  if (parsed?.success !== true)
    throw unusable(parsed === null ? 'it is no JSON' : (parsed.error.issues[0]?.path.join('.') ?? 'another form'));
  return parsed.data.skills;
}

function textOf(path: string): string {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

export class PackageCache {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async put(sha256: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
    const path = this.#path(sha256);
    if (fs.existsSync(path)) return;
    replaceFile(fs, path, await makeZip(files));
    this.#prune(path);
  }

  /** The cached package, or null. The caller compares its content. */
  get(sha256: string): ReadPackage | null {
    const path = this.#path(sha256);
    return fs.existsSync(path) ? readArchive(fs.readFileSync(path)) : null;
  }

  #path(sha256: string): string {
    return join(this.#folder, `${sha256}.zip`);
  }

  /** Deletes the oldest packages above the size limit, but keeps the one just stored. */
  #prune(kept: string): void {
    const all = fs.readdirSync(this.#folder).map((name) => {
      const path = join(this.#folder, name);
      const { size, mtimeMs } = fs.statSync(path);
      return { path, size, mtimeMs };
    });
    let bytes = all.reduce((sum, { size }) => sum + size, 0);
    for (const { path, size } of all.toSorted((a, b) => a.mtimeMs - b.mtimeMs)) {
      if (bytes <= CACHE_BYTES_MAX || path === kept) continue;
      fs.rmSync(path, { force: true });
      bytes -= size;
    }
  }
}

// Packs a skill's files into one archive. The same files give the same bytes on every machine and day.

/** The earliest time a ZIP archive can contain. The format uses local time. */
const epoch = new Date(1980, 0, 1);

export async function makeZip(files: ReadonlyMap<string, Uint8Array>): Promise<Uint8Array> {
  const { zipSync } = await import('fflate');
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  return zipSync(Object.fromEntries(sorted), { level: 9, mtime: epoch, os: 3, attrs: 0o100644 << 16 });
}
