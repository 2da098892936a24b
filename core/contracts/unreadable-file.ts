// Says why a file that a person or a model named could not be used.

import { decodeUtf8 } from '../base/decode-utf8.ts';
import { errnoOf } from '../base/errno.ts';
import { AppError, noPath } from './errors.ts';

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

/** Without a full stop, such as `the disk is full`. For any other cause, the first line of its message. */
export function whyFileFailed(cause: unknown): string {
  const meaning = meanings[errnoOf(cause) ?? ''];
  return meaning ?? (cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : 'unknown reason');
}

/** Decodes bytes from a person, without a byte order mark. Fails with `invalid_params` if they are not UTF-8. */
export function givenText(bytes: Uint8Array, what: string): string {
  const text = decodeUtf8(bytes);
  if (text === null) throw notUtf8(what);
  return text;
}

/** The error for bytes that are not UTF-8. `what` begins the sentence. */
export function notUtf8(what: string, code: 'invalid_params' | 'invalid_config' = 'invalid_params'): AppError {
  const hint = 'Save it as UTF-8, or convert it, such as with: iconv -f latin1 -t utf-8';
  return new AppError(code, `${what} is not UTF-8 text.`, { hint });
}

/** The error for a file that a person named and that cannot be read: `not_found` or `invalid_params`. */
export function unreadable(path: string, cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  if (errnoOf(cause) === 'ENOENT') return noPath('file', path, cause);
  return new AppError('invalid_params', `${path} cannot be read: ${whyFileFailed(cause)}.`, { cause });
}
