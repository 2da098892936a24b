// Maps failed file operations of tools to errors.

import { AppError, whyFileFailed } from '../../contracts/errors.ts';
import { errnoOf } from '../../base/errno.ts';

/** Returns an AppError (`not_found` or `tool_failed`) that names the path. */
export function fileError(doing: string, path: string, cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const code = errnoOf(cause) === 'ENOENT' ? 'not_found' : 'tool_failed';
  return new AppError(code, `Could not ${doing} ${path}: ${whyFileFailed(cause)}.`, { cause });
}
