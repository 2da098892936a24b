// If the system cannot report the path by which a file was opened: checks that the file is at the intended path, with no link on the way.
// Names are not compared, because macOS and Windows find one file by several: by either case, composed or decomposed letters, 8.3 names,
// drives of subst.

import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError } from '../../contracts/errors.ts';

export interface PlaceMarks {
  readonly dev: bigint;
  readonly ino: bigint;
  isSymbolicLink(): boolean;
}

export interface PlaceCalls {
  /** Does not follow a link, nor a junction of Windows. */
  lstat(path: string, options: { readonly bigint: true }): Promise<PlaceMarks>;
}

/** Fails with `tool_failed` if a link leads elsewhere, or if another file is there by now. */
export async function assertSamePlace(fs: PlaceCalls, handle: Pick<FileHandle, 'stat'>, real: string, doing: string): Promise<void> {
  const opened = await handle.stat({ bigint: true });
  await assertNoLinkTo(fs, dirname(real), doing);
  const there = await fs.lstat(real, { bigint: true });
  // Windows returns the volume number with 32 bits from one call and 64 from the other.
  const isSameVolume = process.platform === 'win32' || there.dev === opened.dev;
  if (there.ino === opened.ino && isSameVolume) return;
  throw new AppError('tool_failed', `Could not ${doing} ${real}: its folder was replaced meanwhile.`);
}

/** Fails with `tool_failed` if the folder, or one above it, is a link. */
export async function assertNoLinkTo(fs: PlaceCalls, folder: string, doing: string): Promise<void> {
  for (let at = folder; at !== dirname(at); at = dirname(at)) {
    if (!(await fs.lstat(at, { bigint: true })).isSymbolicLink()) continue;
    throw new AppError('tool_failed', `Could not ${doing} ${folder}: its folder was replaced meanwhile by a link at ${at}.`);
  }
}
