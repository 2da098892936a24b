import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { findProgram } from './program-path.ts';

// Programs of the machine itself, which nobody else writes to: only what the agent may write to makes the difference.
const file = realpathSync('/bin/ls');
const find = (writable: readonly string[], path = dirname(file)) =>
  findProgram('ls', { cwd: '/', path, writable, platform: 'linux' })?.isTrusted;

test.skipIf(process.platform === 'win32')('a program where the agent may write is not the known one, whoever owns it', () => {
  expect([find([]), find([dirname(file)]), find(['/']), find([`${dirname(file)}x`])]).toEqual([true, false, false, true]);
  expect(find([file])).toBe(false);
});

test.skipIf(process.platform === 'win32')('one found by a relative entry of the search path is not the known one', () => {
  expect(find([], dirname(file).slice(1))).toBe(false);
});
