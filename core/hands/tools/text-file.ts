// Reads whole files for the file tools, bounded, and distinguishes text from binary. Changes nothing.

import { constants } from 'node:fs';
import { AppError, isAppError } from '../../contracts/errors.ts';
import { formatBytes } from './bound-text.ts';
import { openPlainFile } from './open-file.ts';

export const fileBytesMax = 10_000_000;
const SNIFF_BYTES = 8192;
const KERNEL_FILE_BYTES_MAX = 1_000_000;

/** The file's bytes. Fails with `not_found` or `tool_failed` (too large, no plain file). */
export async function readBytes(real: string, doing: string): Promise<Buffer> {
  const handle = await openPlainFile(real, constants.O_RDONLY, doing);
  try {
    const { size } = await handle.stat();
    if (size > fileBytesMax) {
      throw new AppError(
        'tool_failed',
        `Could not ${doing} ${real}: it has ${formatBytes(size)}, over the limit of ${formatBytes(fileBytesMax)}.`,
        {
          data: { hint: 'Use grep to find the part you need, or exec with head, tail or sed.' },
        },
      );
    }
    // Files of the kernel's making say they are empty.
    const bytes = Buffer.alloc(size === 0 ? KERNEL_FILE_BYTES_MAX : size);
    let length = 0;
    // Bytes that a growing file gains meanwhile are not read.
    for (;;) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
      length += bytesRead;
      if (bytesRead === 0 || length === bytes.length) return bytes.subarray(0, length);
    }
  } finally {
    await handle.close();
  }
}

/** The text of a file, to show a change of it: empty if there is no file, null if changing it as text would fail. */
export async function readTextIfThere(real: string): Promise<string | null> {
  try {
    return decodeExactly(await readBytes(real, 'read'), real);
  } catch (cause) {
    if (isAppError(cause)) return cause.code === 'not_found' ? '' : null;
    throw cause;
  }
}

/** A NUL near the start means no text, as git and grep have it. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, SNIFF_BYTES).includes(0);
}

/** The text of a file that is to be changed. Fails where changing it as text would damage it. */
export function decodeExactly(bytes: Uint8Array, real: string): string {
  try {
    // The byte order mark is kept, so that it is written back.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new AppError('tool_failed', `Could not edit ${real}: it is not UTF-8 text.`, { cause });
  }
}
