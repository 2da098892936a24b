// Finds a test run's leftover processes by its scratch folder, and no other processes.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findLeftovers } from '../../build/leftovers.ts';
import { needs } from '../needs.ts';

/** Prints once it runs, because a process has no command line for a moment after its start. */
const stays = 'process.stdout.write("."); setTimeout(() => 0, 60_000)';

test.each([
  ['its command line', (folder: string) => ({ args: ['-e', stays, '--', `--home=${folder}`], cwd: tmpdir() })],
  ['its working folder', (folder: string) => ({ args: ['-e', stays], cwd: folder })],
])('a process is found by %s until it ends', needs('Linux'), async (_name, plan) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'left-')));
  const { args, cwd } = plan(folder);
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  expect(findLeftovers(folder).map(({ pid }) => pid)).toEqual([child.pid]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(findLeftovers(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

test('finds none on a machine without /proc', () => {
  expect(findLeftovers('/somewhere', '/nonexistent')).toEqual([]);
});
