// Names of operating system failures, and their plain descriptions. The only place that maps them.

import { AppError } from '../../contracts/errors.ts';

export function errnoOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !('code' in cause)) return undefined;
  return typeof cause.code === 'string' ? cause.code : undefined;
}

const meanings: Readonly<Record<string, string>> = {
  ENOENT: 'there is nothing at this path',
  ENOTDIR: 'a part of this path is a file, not a folder',
  EISDIR: 'this is a folder, not a file',
  EACCES: 'this user may not do that here',
  EPERM: 'the system does not permit that here',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'the last part is a symbolic link that appeared just now, or links lead in circles',
  EBUSY: 'another program is using it',
  ETXTBSY: 'a running program is using it',
  EMFILE: 'too many files are open',
  EEXIST: 'something is already there',
  ENOTEMPTY: 'the folder is not empty',
  EINVAL: 'the system refuses this name',
};

/** A file operation that failed, as an AppError (`not_found` or `tool_failed`) that names the path. */
export function fileError(doing: string, path: string, cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const errno = errnoOf(cause);
  const why = (errno === undefined ? undefined : meanings[errno]) ?? (cause instanceof Error ? cause.message : 'unknown reason');
  return new AppError(errno === 'ENOENT' ? 'not_found' : 'tool_failed', `Could not ${doing} ${path}: ${why}.`, { cause });
}
