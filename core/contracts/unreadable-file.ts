// Says why a file that a person or a model named could not be used.

import { decodeUtf8 } from '../base/decode-utf8.ts';
import { errnoOf, fileMeanings } from '../base/errno.ts';
import { AppError, noPath } from './errors.ts';

/** Without a full stop, such as `the disk is full`. For any other cause, the first line of its message. */
export function whyFileFailed(cause: unknown): string {
  const meaning = fileMeanings[errnoOf(cause) ?? ''];
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
