// Finds a program of the system by its name, on the path and where system programs are. Runs nothing.

import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Its absolute path, so that no folder a command runs in can offer another one; null where there is none. */
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
