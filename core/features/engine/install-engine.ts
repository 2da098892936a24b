// Installs the engine: downloads the pinned archives, verifies each, unpacks them into a temporary folder and renames it at the end. Runs
// nothing that it downloads. A failed attempt leaves nothing behind.

import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { makeFolders } from '../../base/make-folders.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import { readTarGz, type TarRules } from '../../hands/tar/tar.ts';
import type { PinnedPackage } from './pinned-packages.ts';

export interface InstallDeps {
  readonly packages: readonly PinnedPackage[];
  /** The target folder, which must not exist yet. */
  readonly folder: string;
  readonly registry: string;
  readonly fetch: (url: string, signal: AbortSignal) => Promise<Buffer>;
  readonly onProgress: (doneBytes: number) => void;
}

const PARALLEL = 6;

/** Fails with fetch_failed or tool_failed. */
export async function installEngine(deps: InstallDeps, signal: AbortSignal): Promise<void> {
  const { folder, packages, onProgress } = deps;
  const staged = `${folder}.new`;
  fs.rmSync(staged, { recursive: true, force: true });
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  let doneBytes = 0;
  const waiting = [...packages].sort((a, b) => b[2] - a[2]);
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const archive = await download(deps, next, either);
      unpack(archive, { folder: join(staged, next[0]), wants: isNeeded });
      doneBytes += archive.length;
      onProgress(doneBytes);
    }
  };
  try {
    makeFolders(fs, staged);
    await Promise.all(Array.from({ length: PARALLEL }, work));
    fs.rmSync(folder, { recursive: true, force: true });
    fs.renameSync(staged, folder);
  } catch (cause) {
    ended.abort();
    waiting.length = 0;
    fs.rmSync(staged, { recursive: true, force: true });
    throw explained(cause, signal);
  }
}

/** Removes every installed version. */
export function removeEngine(folder: string): void {
  fs.rmSync(dirname(folder), { recursive: true, force: true });
}

/** Skips the native sources, source maps, type declarations and documents. */
export function isNeeded(path: string): boolean {
  return !/\.(map|d\.ts|md)$/.test(path) && (!path.startsWith('llama/') || /^llama\/[^/]+\.json$/.test(path));
}

async function download(
  { fetch, registry }: InstallDeps,
  [path, version, archiveBytes, , sha512]: PinnedPackage,
  signal: AbortSignal,
): Promise<Buffer> {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const archive = await fetch(`${registry}/${name}/-/${name.split('/').at(-1) ?? name}-${version}.tgz`, signal);
  const isPinned = archive.length === archiveBytes && createHash('sha512').update(archive).digest('base64') === sha512;
  if (!isPinned) {
    throw new AppError('fetch_failed', `What ${new URL(registry).host} gave for ${name} ${version} is not the pinned archive.`, {
      hint: 'Nothing was installed. Try again; if it stays, something between you and the registry changes downloads.',
    });
  }
  return archive;
}

function explained(cause: unknown, signal: AbortSignal): AppError {
  if (signal.aborted) return new AppError('cancelled', 'Installing the engine was stopped. Nothing was installed.', { cause });
  const error = toAppError(cause);
  const hint = error.hint ?? 'Nothing was installed. Check the network connection, and try again.';
  return new AppError(error.code === 'internal' ? 'tool_failed' : error.code, `The engine could not be installed: ${error.message}`, {
    data: { ...error.data },
    hint,
    cause,
  });
}

// Unpacks an npm archive into a folder: only plain files, nothing outside the folder, no links.

const rules: TarRules = {
  unpackedBytesMax: 512 * 1024 * 1024,
  entriesMax: 20_000,
  refusal: (why) => new AppError('tool_failed', `The archive cannot be unpacked: ${why}.`),
};

interface UnpackOptions {
  readonly folder: string;
  /** Whether a file is wanted, by its path inside the package. */
  readonly wants: (path: string) => boolean;
}

/** Fails with tool_failed if the archive is damaged, contains links or leads out of the folder. */
function unpack(archive: Buffer, { folder, wants }: UnpackOptions): void {
  for (const { path, content } of readTarGz(archive, rules).entries) {
    const inside = insidePackage(path);
    if (wants(inside)) writeInside(folder, inside, content());
  }
}

function writeInside(folder: string, path: string, body: Uint8Array): void {
  const place = join(folder, path);
  makeFolders(fs, dirname(place));
  fs.writeFileSync(place, body, { mode: 0o600, flag: 'wx' });
}

/** The path below the top folder that every npm archive has. */
function insidePackage(name: string): string {
  const path = posix.normalize(name.replaceAll('\\', '/'));
  const parts = path.split('/').slice(1);
  if (posix.isAbsolute(path) || path.startsWith('..') || parts.includes('..') || path.includes('\0') || /^[A-Za-z]:/.test(path))
    throw new AppError('tool_failed', 'The archive leads out of its folder.');
  return parts.join('/');
}
