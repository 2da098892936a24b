import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { findProgram } from './program-path.ts';
import { needs } from '../../../tests/needs.ts';

const onUnix = needs('a Unix system');

// System programs, which no other user can write: the only difference is where the agent may write.
const file = realpathSync('/bin/ls');
const find = (writable: readonly string[], path = dirname(file)) =>
  findProgram('ls', { cwd: '/', path, writable, platform: 'linux' })?.isTrusted;

test('a program where the agent may write is not the known one, no matter who owns it', onUnix, () => {
  expect([find([]), find([dirname(file)]), find(['/']), find([`${dirname(file)}x`])]).toEqual([true, false, false, true]);
  expect(find([file])).toBe(false);
});

test('one found by a relative entry of the search path is not the known one', onUnix, () => {
  expect(find([], dirname(file).slice(1))).toBe(false);
});

test('one that any user may write, itself or its folder, is not the known one', onUnix, () => {
  const search = { cwd: '/', path: dirname(file), writable: [], platform: 'linux' } as const;
  // The machine's permissions are ignored: below an open folder no program would pass.
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

test('one named by its path is found and is not the known one, wherever it is', onUnix, () => {
  const search = { cwd: dirname(file), path: dirname(file), writable: [], platform: 'linux' } as const;
  const private755 = () => 0o755;
  expect([file, './ls'].map((name) => findProgram(name, search, private755))).toEqual([
    { file, real: file, isTrusted: false },
    { file, real: file, isTrusted: false },
  ]);
  expect(findProgram('ls', search, private755)).toEqual({ file, real: file, isTrusted: true });
});
