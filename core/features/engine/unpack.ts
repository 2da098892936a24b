// Unpacks an npm archive (a gzipped tar) into a folder: only plain files, nothing outside the folder, no links. Source: POSIX ustar, with
// the pax and GNU forms of long names.

import * as fs from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { makeFolders } from '../../base/make-folders.ts';
import { AppError } from '../../contracts/errors.ts';

const BLOCK = 512;
const UNPACKED_BYTES_MAX = 512 * 1024 * 1024;
const PLAIN_FILE = new Set(['0', '']);
const links = new Set(['1', '2']);

export interface UnpackOptions {
  readonly folder: string;
  /** Whether a file is wanted, by its path inside the package. */
  readonly wants: (path: string) => boolean;
}

/** Fails with tool_failed if the archive is damaged, contains links or leads out of the folder. */
export function unpack(archive: Buffer, { folder, wants }: UnpackOptions): void {
  const tar = inflated(archive);
  let longName: string | null = null;
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0;) {
    const type = textAt(tar, at + 156, 1);
    const body = bodyAt(tar, at);
    if (type === 'x') longName = paxPath(body) ?? longName;
    else if (type === 'L') longName = body.toString('utf8').replace(/\0+$/, '');
    else if (type !== 'g') {
      const path = insidePackage(longName ?? nameAt(tar, at));
      longName = null;
      if (links.has(type)) throw new AppError('tool_failed', 'The archive holds a link.');
      if (PLAIN_FILE.has(type) && wants(path)) writeInside(folder, path, body);
    }
    at += BLOCK + Math.ceil(body.length / BLOCK) * BLOCK;
  }
}

function bodyAt(tar: Buffer, at: number): Buffer {
  const size = Number.parseInt(textAt(tar, at + 124, 12).trim(), 8);
  const body = tar.subarray(at + BLOCK, at + BLOCK + size);
  if (!(size >= 0) || body.length !== size) throw new AppError('tool_failed', 'The archive is cut off.');
  return body;
}

function inflated(archive: Buffer): Buffer {
  try {
    return gunzipSync(archive, { maxOutputLength: UNPACKED_BYTES_MAX });
  } catch (cause) {
    throw new AppError('tool_failed', 'The archive cannot be unpacked.', { cause });
  }
}

function writeInside(folder: string, path: string, body: Buffer): void {
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

function nameAt(tar: Buffer, at: number): string {
  const prefix = textAt(tar, at + 257, 5) === 'ustar' ? textAt(tar, at + 345, 155) : '';
  const name = textAt(tar, at, 100);
  return prefix === '' ? name : `${prefix}/${name}`;
}

function textAt(tar: Buffer, at: number, length: number): string {
  const field = tar.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}

function paxPath(body: Buffer): string | null {
  return /^\d+ path=(.+)$/m.exec(body.toString('utf8'))?.[1] ?? null;
}
