// Serves the built window from one folder. Files only, never outside that folder, no listing, no fallback but for "/".

import { readFile, realpath, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { isBelow } from '../../base/inside-folder.ts';

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

/** The file behind a request path (still percent-encoded), or null when there is none that may be served. */
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
  return cause instanceof Error && 'code' in cause && ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'].includes(String(cause.code));
}
