// Tests the Windows programs on argument lists: these tests run on every system and start nothing.

import { expect, test } from 'vitest';
import { childEnvironment } from './child-environment.ts';
import { findShell } from './shell-command.ts';
import { powershellPath, taskkillPath } from './windows-system.ts';
import {
  endWindowsTrees,
  findWindowsMembers,
  parseWindowsList,
  type RunProgram,
  type WindowsPorts,
  type WindowsProcess,
} from './windows-trees.ts';

test.each([
  [{ SystemRoot: 'D:\\WINNT' }, 'D:\\WINNT'],
  [{ SYSTEMROOT: 'C:\\Windows' }, 'C:\\Windows'],
  [{ SystemRoot: '.\\here' }, 'C:\\Windows'],
  [{ SystemRoot: '' }, 'C:\\Windows'],
  [{}, 'C:\\Windows'],
])('system programs have full paths: %j', (environment, root) => {
  expect(powershellPath(environment)).toBe(`${root}\\System32\\WindowsPowerShell\\v1.0\\powershell.exe`);
  expect(taskkillPath(environment)).toBe(`${root}\\System32\\taskkill.exe`);
});

test('a line runs in PowerShell by its full path, with the policy that npm needs', () => {
  const { file, args } = findShell('win32', { SystemRoot: 'C:\\Windows' }).piped({ kind: 'line', line: 'npm test' });
  expect(file).toBe('C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe');
  expect(args.slice(0, -1)).toEqual(['-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass', '-Command']);
  expect(args.at(-1)).toMatch(/UTF8Encoding[^]*& \{\nnpm test\n\} 2>&1[^]*exit \$LASTEXITCODE/);
});

test('a terminal keeps its two outputs, and the exit code of the last program', () => {
  const script = findShell('win32', {}).interactive({ kind: 'line', line: 'python' }).args.at(-1) ?? '';
  expect(script).not.toContain('2>&1');
  expect(script).toMatch(/exit \$LASTEXITCODE/);
});

test('a child searches for programs on the search path only', () => {
  const given = { Path: 'C:\\bin', SystemRoot: 'C:\\Windows', SECRET: 'x' };
  expect(childEnvironment(given, { MARK: '1' }, 'win32')).toEqual({
    Path: 'C:\\bin',
    SystemRoot: 'C:\\Windows',
    NoDefaultCurrentDirectoryInExePath: '1',
    MARK: '1',
  });
  expect(childEnvironment({ PATH: '/bin' }, {}, 'linux')).toEqual({ PATH: '/bin' });
});

const row = (pid: number, parentPid: number, startedMs: number): WindowsProcess => ({ pid, parentPid, startedMs });
const root = { pid: 10, startTime: '1000000' };

test('a tree contains what the root started, by pid and start time', () => {
  const rows = [
    row(4, 0, 0),
    row(10, 4, 999_500),
    row(11, 10, 1_000_100),
    row(12, 11, 1_000_200),
    row(13, 10, 900_000),
    row(14, 4, 1_000_300),
  ];
  expect(findWindowsMembers(rows, [root], new Set()).map(({ pid }) => pid)).toEqual([10, 11, 12]);
});

test('children of an ended root are found, but not a stranger with its pid', () => {
  const orphan = row(11, 10, 1_000_100);
  expect(findWindowsMembers([row(4, 0, 0), orphan, row(12, 10, 900_000)], [root], new Set())).toEqual([orphan]);
  expect(findWindowsMembers([row(10, 4, 5_000_000), row(15, 10, 5_000_100)], [root], new Set())).toEqual([]);
});

test('children of a member that ended meanwhile are found', () => {
  const late = row(20, 11, 1_000_400);
  expect(findWindowsMembers([late], [root], new Set([10, 11]))).toEqual([late]);
});

/** A system whose processes end on request; each check rereads the list. */
class FakeWindows {
  readonly ended: number[] = [];
  readonly programs: string[] = [];
  #rows: readonly WindowsProcess[];
  readonly #startedLater: WindowsProcess[];
  readonly #listFails: boolean;

  constructor(rows: readonly WindowsProcess[], { startedLater = [] as WindowsProcess[], listFails = false } = {}) {
    this.#rows = rows;
    this.#startedLater = startedLater;
    this.#listFails = listFails;
  }

  get ports(): WindowsPorts {
    return { environment: {}, run: this.#run, end: this.#end };
  }

  readonly #run: RunProgram = (file, args) => {
    this.programs.push([file.split('\\').at(-1), ...args.filter((arg) => /^[/\d]/.test(arg))].join(' '));
    if (file.endsWith('taskkill.exe')) return Promise.reject(new Error('no such process'));
    if (this.#listFails) return Promise.reject(new Error('the service is off'));
    return Promise.resolve(this.#rows.map((one) => `${one.pid} ${one.parentPid} ${one.startedMs}\r\n`).join(''));
  };

  readonly #end = (pid: number): boolean => {
    const isThere = this.#rows.some((one) => one.pid === pid);
    this.#rows = [...this.#rows.filter((one) => one.pid !== pid), ...this.#startedLater.splice(0)];
    if (isThere) this.ended.push(pid);
    return isThere;
  };
}

test('a stop checks again until no new processes appear', async () => {
  const system = new FakeWindows([row(10, 4, 1_000_000), row(11, 10, 1_000_100)], { startedLater: [row(12, 11, 1_000_150)] });
  expect(await endWindowsTrees([root], system.ports)).toEqual({ killed: 3, survivors: 0 });
  expect(system.ended).toEqual([10, 11, 12]);
});

test('a root that has already ended is not a survivor', async () => {
  const system = new FakeWindows([row(4, 0, 0)]);
  expect(await endWindowsTrees([root], system.ports)).toEqual({ killed: 0, survivors: 0 });
});

test('if the list is unavailable, taskkill ends the tree, by its full path', async () => {
  const system = new FakeWindows([row(10, 4, 1_000_000)], { listFails: true });
  expect(await endWindowsTrees([root], system.ports)).toEqual({ killed: 1, survivors: 0 });
  expect(system.programs.at(-1)).toBe('taskkill.exe /PID 10 /T /F');
});

test('lines that are not processes are ignored', () => {
  expect(parseWindowsList('12 4 1000\r\n\r\nProcessId\r\n13 12 2000\n')).toEqual([row(12, 4, 1000), row(13, 12, 2000)]);
});
