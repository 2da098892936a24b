// Finds a system program by its name, on the path and in the folders of system programs. Runs nothing.

import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/**
 * Returns the absolute path, so that a folder in which a command runs cannot provide another program of that name. Null if there is none.
 */
export function findProgram(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'];
  const endings = process.platform === 'win32' ? ['.exe', ''] : [''];
  return (
    folders
      .filter((folder) => isAbsolute(folder))
      .flatMap((folder) => endings.map((ending) => join(folder, `${name}${ending}`)))
      .find((path) => existsSync(path)) ?? null
  );
}
