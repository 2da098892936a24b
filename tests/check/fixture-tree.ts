// Creates small projects in a temporary folder, so that each check can be shown something it must reject.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** Writes the files (path to text) and removes them after the test. Returns the folder's real path. */
export function createTree(files: Readonly<Record<string, string>>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'check-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

export interface CheckRun {
  readonly code: number | null;
  readonly lines: readonly string[];
}

/** Runs a script of the project (path from its root) under this Node. */
export function runCheck(script: string, ...args: readonly string[]): CheckRun {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(projectRoot, script), ...args], { encoding: 'utf8' });
  return { code: status, lines: `${stdout}${stderr}`.trimEnd().split('\n') };
}
