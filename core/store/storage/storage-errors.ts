// The only module that reads the error codes of SQLite.

import { accessSync, closeSync, constants, existsSync, lstatSync, openSync, readlinkSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import { AppError, isAppError, toAppError, type ErrorCode } from '../../contracts/errors.ts';

interface Mapping {
  readonly prefix: string;
  readonly code: ErrorCode;
  readonly message: string;
}

/** The first match wins. SQLite's codes are from https://sqlite.org/rescode.html. */
const mappings: readonly Mapping[] = [
  { prefix: 'SQLITE_CORRUPT', code: 'store_corrupt', message: 'The database file is damaged.' },
  { prefix: 'SQLITE_NOTADB', code: 'store_corrupt', message: 'The database file is not a database.' },
  { prefix: 'SQLITE_FULL', code: 'store_full', message: 'The disk is full; nothing more can be recorded.' },
  { prefix: 'SQLITE_READONLY', code: 'store_readonly', message: 'The database file cannot be written.' },
  { prefix: 'SQLITE_CANTOPEN', code: 'store_readonly', message: 'The database file cannot be opened.' },
  { prefix: 'SQLITE_PERM', code: 'store_readonly', message: 'The database file may not be opened by this user.' },
  { prefix: 'SQLITE_BUSY', code: 'store_locked', message: 'The database is in use by another process.' },
  { prefix: 'SQLITE_LOCKED', code: 'store_locked', message: 'The database is in use by another process.' },
  { prefix: 'SQLITE_IOERR', code: 'store_failed', message: 'The disk reported an error.' },
];

export function mapStorageError(cause: unknown): AppError {
  if (isAppError(cause)) return cause;
  const code = readCode(cause);
  const mapping = code === null ? undefined : mappings.find((entry) => code.startsWith(entry.prefix));
  if (mapping === undefined) {
    if (code?.startsWith('SQLITE_') === true) {
      return new AppError('store_failed', `The database refused a statement (${code}).`, { cause, data: { sqlite: code } });
    }
    return toAppError(cause);
  }
  return new AppError(mapping.code, mapping.message, { cause, data: { cause: code ?? '' }, isRetryable: mapping.code === 'store_locked' });
}

/** The files that SQLite opens for one database: itself, its write-ahead log, the index of that, and its folder. */
const HANDLES = 4;

/**
 * Explains why a database could not be opened. SQLite does not say why, so this asks the system about the path. It opens none of the
 * database's files: closing one releases every lock that this process holds on it.
 */
export function openingError(file: string, cause: unknown): AppError {
  const error = mapStorageError(cause);
  if (error.code !== 'store_readonly' && error.code !== 'store_failed') return error;
  const handles: number[] = [];
  try {
    for (const path of [file, `${file}-wal`, `${file}-shm`]) refuseFolder(path);
    for (let tries = 0; tries < HANDLES; tries += 1) handles.push(openSync(devNull, 'r'));
    if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
    return error;
  } catch (reason) {
    return mapStorageError(reason);
  } finally {
    for (const handle of handles) closeSync(handle);
  }
}

/** Fails as reading the path would if it is a folder. */
export function refuseFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  throw Object.assign(new Error(`EISDIR: ${path}`), { code: 'EISDIR', syscall: 'open', path });
}

const folderWords: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the disk is read-only',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'there is something else that is not a folder',
  ENOENT: 'no folder can be made there',
  ELOOP: 'symbolic links in the path form a loop',
  ENAMETOOLONG: 'the name is too long',
};

/** SQLite opens no file whose path has more than 512 bytes, and the names of its files and of backups take some of them. */
const HOME_BYTES_MAX = 440;

/** Fails with `store_readonly`. */
export function refuseLongHome(home: string): void {
  const bytes = Buffer.byteLength(home);
  if (bytes > HOME_BYTES_MAX) throw unusable(dataFolder(home), `its path has ${bytes} bytes, and ${HOME_BYTES_MAX} are the most`);
}

/** Explains why the data folder cannot be created or accessed. */
export function homeError(home: string, cause: unknown): AppError {
  return folderError(dataFolder(home), cause);
}

export interface NamedFolder {
  readonly what: string;
  readonly path: string;
  readonly hint: string;
}

/** Explains why a folder cannot be created or accessed. */
export function folderError(folder: NamedFolder, cause: unknown): AppError {
  if (isAppError(cause)) return cause;
  const linked = readCode(cause) === 'ELOOP' ? null : brokenLink(folder.path);
  const words = linked === null ? folderWords[readCode(cause) ?? ''] : `it is a link to ${linked}, where there is nothing`;
  if (words === undefined) return mapStorageError(cause);
  return unusable(folder, words, cause);
}

const dataFolder = (path: string): NamedFolder => ({
  what: 'data folder',
  path,
  hint: 'Choose another data folder with --home or TRAYCLAW_HOME, or make this one usable.',
});

function unusable({ what, path, hint }: NamedFolder, words: string, cause?: unknown): AppError {
  return new AppError('store_readonly', `The ${what} ${path} cannot be used: ${words}.`, { cause, hint });
}

/** Returns the target of a broken symbolic link, or null if the path is not one. */
function brokenLink(path: string): string | null {
  try {
    return lstatSync(path).isSymbolicLink() && !existsSync(path) ? readlinkSync(path) : null;
  } catch {
    return null;
  }
}

/** Maps an SQLite error to a `store_*` error and returns any other error unchanged. For code in which other operations can fail as well. */
export function mapSqliteError(cause: unknown): unknown {
  return readCode(cause)?.startsWith('SQLITE_') === true ? mapStorageError(cause) : cause;
}

function readCode(cause: unknown): string | null {
  if (typeof cause !== 'object' || cause === null || !('code' in cause)) return null;
  return typeof cause.code === 'string' ? cause.code : null;
}
