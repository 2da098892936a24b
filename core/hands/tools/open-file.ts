// Opens resolved paths safely: no link at the end, plain files only, and only the intended file.

import { constants, mkdirSync, statSync } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../../base/errno.ts';
import { makeFolders } from '../../base/make-folders.ts';
import { AppError } from '../../contracts/errors.ts';
import { fileError } from './errno.ts';

/** Linux can report the path by which a file was opened. */
const isLinux = process.platform === 'linux';

// Both flags are missing on Windows, where creating links requires a privilege.
const NO_FOLLOW: number = constants.O_NOFOLLOW ?? 0;
/** The mode that the person's own programs use for folders. */
const ANY_MODE = 0o777;
const NON_BLOCK: number = constants.O_NONBLOCK ?? 0;

/** Opens a plain file. Refuses a pipe, device, folder or link, and a path whose folders were replaced meanwhile. */
export async function openPlainFile(real: string, flags: number, doing: string, mode = 0o666): Promise<FileHandle> {
  let handle: FileHandle;
  try {
    handle = await open(real, flags | NO_FOLLOW | NON_BLOCK, mode);
  } catch (cause) {
    // The error for a pipe without a reader.
    if (errnoOf(cause) === 'ENXIO') throw new AppError('tool_failed', `Could not ${doing} ${real}: it is not a plain file.`, { cause });
    throw fileError(doing, real, cause);
  }
  try {
    const stat = await handle.stat();
    if (stat.isDirectory()) throw new AppError('tool_failed', `Could not ${doing} ${real}: this is a folder, not a file.`);
    if (!stat.isFile()) throw new AppError('tool_failed', `Could not ${doing} ${real}: it is not a plain file.`);
    await assertSameFile(handle, real, doing);
    return handle;
  } catch (cause) {
    await handle.close();
    throw fileError(doing, real, cause);
  }
}

/** Creates the folders above a path. Fails if one of them turns out to lead elsewhere. */
export async function makeParents(real: string, doing: string): Promise<void> {
  const folder = dirname(real);
  try {
    makeFolders({ mkdirSync, statSync }, folder, ANY_MODE);
    if (isLinux) assertSamePath(await realpath(folder), folder, doing);
    else await assertNoLinkTo({ lstat }, folder, doing);
  } catch (cause) {
    throw fileError(doing, real, cause);
  }
}

async function assertSameFile(handle: FileHandle, real: string, doing: string): Promise<void> {
  if (isLinux) assertSamePath(await readlink(`/proc/self/fd/${handle.fd}`), real, doing);
  else await assertSamePlace({ lstat }, handle, real, doing);
}

function assertSamePath(found: string, meant: string, doing: string): void {
  if (found === meant) return;
  throw new AppError('tool_failed', `Could not ${doing} ${meant}: its folder was replaced meanwhile and leads to ${found}.`);
}

// If the system cannot report the path by which a file was opened: checks that the file is at the intended path, with no link on the way.
// Names are not compared, because macOS and Windows find one file by several: by either case, composed or decomposed letters, 8.3 names,
// drives of subst.

interface PlaceMarks {
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
