// The file system calls that a checkpoint needs, as a port, and descriptions of their failures. Changes nothing itself.

import * as nodeFs from 'node:fs';
import { errnoOf } from '../../base/errno.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';

/** A port, so that a fault test can make the nth call fail, or simulate the end of the process there. */
export type FileCalls = Pick<
  typeof nodeFs,
  | 'chmodSync'
  | 'closeSync'
  | 'fchmodSync'
  | 'fchownSync'
  | 'fstatSync'
  | 'fsyncSync'
  | 'lstatSync'
  | 'mkdirSync'
  | 'openSync'
  | 'readSync'
  | 'readdirSync'
  | 'readlinkSync'
  | 'realpathSync'
  | 'renameSync'
  | 'rmdirSync'
  | 'symlinkSync'
  | 'unlinkSync'
  | 'writeSync'
>;

export const realFileCalls: FileCalls = nodeFs;

const meanings: Readonly<Record<string, string>> = {
  ENOENT: 'there is nothing at this path any more',
  ENOTDIR: 'a part of this path is a file, not a folder',
  EISDIR: 'this is a folder, not a file',
  EACCES: 'this user may not do that there',
  EPERM: 'the system does not permit that there',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ELOOP: 'it became a symbolic link, or links lead in circles',
  ENOTEMPTY: 'the folder is not empty',
  EEXIST: 'something is already there',
  EBUSY: 'another program is using it',
  EMFILE: 'too many files are open',
};

/** Completes "… because", without a full stop. */
export function whyItFailed(cause: unknown): string {
  if (isAppError(cause)) return cause.message.replace(/\.$/, '');
  return meanings[errnoOf(cause) ?? ''] ?? (cause instanceof Error ? cause.message : 'of an unknown reason');
}

/** `doing` completes "Could not …". A full disk is `store_full`; everything else is `tool_failed`. */
export function fileFailure(cause: unknown, doing: string, hint?: string): AppError {
  if (isAppError(cause)) return cause;
  const code = errnoOf(cause);
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  return new AppError(isFull ? 'store_full' : 'tool_failed', `Could not ${doing}: ${whyItFailed(cause)}.`, { cause, hint });
}
