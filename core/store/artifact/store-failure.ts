// The only module that maps file error codes of Node and SQLite to errors of an artifact.

import { errnoOf } from '../../base/errno.ts';
import { AppError, isAppError, type ErrorCode } from '../../contracts/errors.ts';

const meanings: readonly (readonly [RegExp, ErrorCode, string])[] = [
  [/^(ENOSPC|EDQUOT|SQLITE_FULL)$/, 'store_full', 'there is no room left on the disk'],
  [/^(EROFS|EACCES|EPERM|SQLITE_READONLY.*|SQLITE_PERM)$/, 'store_readonly', 'the data folder cannot be written'],
  [/^(SQLITE_CORRUPT.*|SQLITE_NOTADB)$/, 'store_corrupt', 'the database is damaged'],
  [/^(SQLITE_BUSY.*|SQLITE_LOCKED.*)$/, 'store_locked', 'another process holds the database'],
];

/** `doing` completes the sentence "Could not …". */
export function storeFailure(cause: unknown, doing: string): AppError {
  if (isAppError(cause)) return cause;
  const code = errnoOf(cause) ?? '';
  for (const [pattern, errorCode, why] of meanings) {
    if (pattern.test(code)) return new AppError(errorCode, `Could not ${doing}: ${why}.`, { cause });
  }
  return new AppError('store_failed', `Could not ${doing}${code === '' ? '' : ` (${code})`}.`, { cause });
}
