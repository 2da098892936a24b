// Finds a Node on the path that is older than the package supports, for the tests of its message.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describeOldNode } from '../core/base/node-floor.ts';

export function findOlderNode(): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const programs = folders.map((folder) => join(folder, process.platform === 'win32' ? 'node.exe' : 'node'));
  return programs.find((program) => existsSync(program) && describeOldNode(versionOf(program)) !== null) ?? null;
}

function versionOf(program: string): string {
  return spawnSync(program, ['-p', 'process.versions.node'], { encoding: 'utf8' }).stdout.trim();
}
