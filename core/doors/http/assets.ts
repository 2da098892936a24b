// Serves the built window from one folder. Only files, never outside that folder, no listing, no fallback except for "/".

import { readFile, realpath, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { errnoOf } from '../../base/errno.ts';
import { isBelow } from '../../base/inside-folder.ts';
import { gzipped, takes } from './reply.ts';

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.ico': 'image/x-icon',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.txt': 'text/plain; charset=utf-8',
};

const assetBytesMax = 32 * 1024 * 1024;

export interface Asset {
  readonly mediaType: string;
  readonly bytes: Buffer;
}

const packable = /^(?:text\/|application\/(?:json|manifest|wasm)|image\/svg)/;
/** Smaller files fit into one packet without compression. */
const packFromBytes = 1024;

export interface Packed {
  readonly coding: 'br' | 'gzip';
  readonly bytes: Buffer;
}

/**
 * Caches compressed files by their buffer. Pages that are requested repeatedly keep the same buffer, and browsers cache the other files.
 */
export class PackedAssets {
  readonly #known = new WeakMap<Buffer, Promise<Buffer>>();

  /**
   * Returns null if the file is sent uncompressed: it is too small, already compressed, or the client accepts neither coding. `readBuilt`
   * reads the compressed form from the build, which is null for most files. Compression helps with slow tunnels to another machine.
   */
  async of(
    { mediaType, bytes }: Asset,
    acceptEncoding: string | undefined,
    readBuilt: () => Promise<Asset | null>,
  ): Promise<Packed | null> {
    if (bytes.length < packFromBytes || !packable.test(mediaType)) return null;
    const built = takes('br', acceptEncoding) ? await readBuilt() : null;
    if (built !== null) return { coding: 'br', bytes: built.bytes };
    if (!takes('gzip', acceptEncoding)) return null;
    const known = this.#known.get(bytes) ?? gzipped(bytes);
    this.#known.set(bytes, known);
    return { coding: 'gzip', bytes: await known };
  }
}

/** The file for a request path, which is still percent-encoded. Null if there is no file that may be served. */
export async function readAsset(folder: string, path: string): Promise<Asset | null> {
  const relative = path === '/' ? 'index.html' : safeRelative(path);
  if (relative === null) return null;
  try {
    const root = await realpath(folder);
    const file = await realpath(join(root, relative));
    if (!isBelow(file, root)) return null;
    const info = await stat(file);
    if (!info.isFile() || info.size > assetBytesMax) return null;
    return { mediaType: mediaTypes[extname(file).toLowerCase()] ?? 'application/octet-stream', bytes: await readFile(file) };
  } catch (cause) {
    if (isMissing(cause)) return null;
    throw cause;
  }
}

function safeRelative(path: string): string | null {
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    // A malformed escape names no file.
    return null;
  }
  if (/[\0\\:]/.test(decoded)) return null;
  const segments = decoded.split('/').slice(1);
  if (segments.some((segment) => segment === '' || segment.startsWith('.'))) return null;
  return segments.join('/');
}

function isMissing(cause: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'].includes(errnoOf(cause) ?? '');
}
