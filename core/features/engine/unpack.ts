// Unpacks an npm archive into a folder: only plain files, nothing outside the folder, no links.

import * as fs from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { makeFolders } from '../../base/make-folders.ts';
import { readTarGz, type TarRules } from '../../hands/tar/tar.ts';
import { AppError } from '../../contracts/errors.ts';

const rules: TarRules = {
  unpackedBytesMax: 512 * 1024 * 1024,
  entriesMax: 20_000,
  refusal: (why) => new AppError('tool_failed', `The archive cannot be unpacked: ${why}.`),
};

export interface UnpackOptions {
  readonly folder: string;
  /** Whether a file is wanted, by its path inside the package. */
  readonly wants: (path: string) => boolean;
}

/** Fails with tool_failed if the archive is damaged, contains links or leads out of the folder. */
export function unpack(archive: Buffer, { folder, wants }: UnpackOptions): void {
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
