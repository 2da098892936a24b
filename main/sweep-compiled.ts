// Removes compiled code of earlier versions of the program and of Node, which nothing else removes.

import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A file is never updated, so files still in use are removed too; the next start writes them again. */
const KEPT_MS = 30 * 86_400_000;

/** Never rejects: files that cannot be read or removed stay. */
export async function sweepCompiled(folder: string, nowMs: number): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const written = await stat(path).catch(() => null);
    if (written !== null && nowMs - written.mtimeMs > KEPT_MS) await rm(path, { force: true }).catch(() => undefined);
  }
}
