// Removes compiled code of earlier versions of the program and of Node, which nothing else ever does.

import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A file is written once. One that is still in use is written again with the next start. */
const KEPT_MS = 30 * 86_400_000;

/** Never rejects: whatever cannot be read or removed stays. */
export async function sweepCompiled(folder: string, nowMs: number): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const written = await stat(path).catch(() => null);
    if (written !== null && nowMs - written.mtimeMs > KEPT_MS) await rm(path, { force: true }).catch(() => undefined);
  }
}
