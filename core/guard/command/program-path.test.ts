import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { findProgram } from './program-path.ts';
import { needs } from '../../../tests/needs.ts';

const onUnix = needs('a Unix system');

// Uses system programs, which no other user can write, so that only the folders the agent may write to differ.
const file = realpathSync('/bin/ls');
const find = (writable: readonly string[], path = dirname(file)) =>
  findProgram('ls', { cwd: '/', path, writable, platform: 'linux' })?.isTrusted;

test('does not trust a program where the agent may write, whatever its owner', onUnix, () => {
  expect([find([]), find([dirname(file)]), find(['/']), find([`${dirname(file)}x`])]).toEqual([true, false, false, true]);
  expect(find([file])).toBe(false);
});

test('does not trust a program found by a relative entry of the search path', onUnix, () => {
  expect(find([], dirname(file).slice(1))).toBe(false);
});

test('does not trust a program that any user may write, itself or its folder', onUnix, () => {
  const search = { cwd: '/', path: dirname(file), writable: [], platform: 'linux' } as const;
  // Ignores the machine's real permissions: no program would be trusted below a world-writable folder.
  const trusts = (open: string | null, mode: number | null | undefined) =>
    findProgram('ls', search, (path) => (path === open ? mode : 0o755))?.isTrusted;
  expect([trusts(null, 0o755), trusts(file, 0o775), trusts(file, 0o757), trusts(file, null), trusts(file, undefined)]).toEqual([
    true,
    true,
    false,
    true,
    false,
  ]);
  expect([trusts(dirname(file), 0o777), trusts('/', 0o1777)]).toEqual([false, false]);
});

test('finds a program by its path but does not trust it, wherever it is', onUnix, () => {
  const search = { cwd: dirname(file), path: dirname(file), writable: [], platform: 'linux' } as const;
  const private755 = () => 0o755;
  expect([file, './ls'].map((name) => findProgram(name, search, private755))).toEqual([
    { file, real: file, isTrusted: false },
    { file, real: file, isTrusted: false },
  ]);
  expect(findProgram('ls', search, private755)).toEqual({ file, real: file, isTrusted: true });
});
