// Reads a secret from a separate file. Owns the checks on the file; does not know how the value is used.

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { AppError } from '../../contracts/errors.ts';

export interface SecretFile {
  readonly value: string;
  /** True if users other than the owner may read or write the file. Always false on Windows, which has no mode bits. */
  readonly isLoose: boolean;
}

const SIZE_BYTES_MAX = 65_536;

/** Returns the content without surrounding white space. Fails with `secret_missing`, naming the path. Never shows the content. */
export function readSecretFile(path: string): SecretFile {
  let handle: number;
  try {
    // Non-blocking, so that a pipe without a writer cannot hang the start.
    handle = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (cause) {
    throw unreadable(path, 'cannot be opened', cause);
  }
  try {
    const stat = fstatSync(handle);
    if (!stat.isFile()) throw unreadable(path, 'is not a regular file');
    if (stat.size > SIZE_BYTES_MAX) throw unreadable(path, `is larger than ${SIZE_BYTES_MAX} bytes`);
    return { value: readFileSync(handle, 'utf8').trim(), isLoose: process.platform !== 'win32' && (stat.mode & 0o077) !== 0 };
  } finally {
    closeSync(handle);
  }
}

function unreadable(path: string, why: string, cause?: unknown): AppError {
  const hint = 'Put the secret alone into that file, readable by you only (chmod 600), or correct the path in config.yaml.';
  return new AppError('secret_missing', `The secret file ${path} ${why}.`, { data: { ref: `file:${path}` }, hint, cause });
}
