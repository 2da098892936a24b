// Replaces a file completely or not at all: writes a temporary file in the same folder, syncs it, then renames it over the target.

import { hash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { renameOverLater } from '../../base/rename-over.ts';
import { fileError } from './errno.ts';
import { errnoOf, ignoreUnsupported } from '../../base/errno.ts';
import { makeParents, openPlainFile } from './open-file.ts';

/**
 * Keeps the mode (and, where allowed, the owner) of the existing file. Fails with `tool_failed`; then nothing changed. The suffix is unique
 * to one call, so an existing file of that name was left by a killed run of that call.
 */
export async function writeAtomically(real: string, content: string | Uint8Array, temporarySuffix: string): Promise<void> {
  await makeParents(real, 'write');
  const before = await existingFile(real);
  // Forty characters of up to four bytes each, so that the name fits with its suffix.
  const temporary = join(dirname(real), `.${wholeLetters(basename(real).slice(0, 40))}.${temporarySuffix}.tmp`);
  await removeLeft(temporary);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  const handle = await openPlainFile(temporary, flags, 'write', before === null ? 0o666 : 0o600).catch(async (cause: unknown) => {
    // Removes a file created here that turned out to be a different one; an existing file belongs to another program.
    if (!(cause instanceof Error && errnoOf(cause.cause) === 'EEXIST')) await unlink(temporary).catch(() => undefined);
    throw cause;
  });
  try {
    try {
      await handle.writeFile(content);
      if (before !== null) {
        await handle.chown(before.uid, before.gid).catch(ignoreUnsupported);
        await handle.chmod(before.mode & 0o7777).catch(ignoreUnsupported);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await renameOverLater({ rename }, temporary, real);
  } catch (cause) {
    await unlink(temporary).catch(ignoreMissing);
    throw fileError('write', real, cause);
  }
  await syncFolder(dirname(real));
}

/** Drops a lone surrogate at the end, which no file system stores unchanged. */
function wholeLetters(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, '');
}

async function removeLeft(temporary: string): Promise<void> {
  try {
    await unlink(temporary);
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT') throw fileError('write', temporary, cause);
  }
}

export function contentHash(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex');
}

async function existingFile(real: string): Promise<{ mode: number; uid: number; gid: number } | null> {
  try {
    const stat = await lstat(real);
    if (stat.isFile()) return stat;
    const cause = Object.assign(new Error('not a plain file'), stat.isDirectory() ? { code: 'EISDIR' } : {});
    throw cause;
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return null;
    throw fileError('write', real, cause);
  }
}

/** Makes the rename itself durable, where the system can: the file is in place. Windows refuses to open folders. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r').catch(ignoreUnsupported);
  try {
    await handle?.sync().catch(ignoreUnsupported);
  } finally {
    await handle?.close();
  }
}

function ignoreMissing(cause: unknown): void {
  if (errnoOf(cause) !== 'ENOENT') throw cause;
}
