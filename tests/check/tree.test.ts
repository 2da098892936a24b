// The problems that the check of the source tree must find.

import { expect, test } from 'vitest';
import { createTree, runCheck } from './fixture-tree.ts';

const LINE = 'export {};\n';

function problems(files: Readonly<Record<string, string>>): readonly string[] {
  const run = runCheck('build/check-tree.ts', createTree(files));
  expect(run.code).toBe(1);
  return run.lines.slice(0, -1);
}

test('a valid tree passes and prints its sizes', () => {
  const root = createTree({
    'core/base/a.ts': LINE,
    'core/store/storage/storage.ts': LINE.repeat(400),
    'core/base/a.test.ts': LINE.repeat(900),
  });
  const expected = '2 files, median 400 lines (aim 120), longest 400 (core/store/storage/storage.ts), 0 problems';
  expect(runCheck('build/check-tree.ts', root)).toEqual({ code: 0, lines: [expected] });
});

test('a tree without sources is rejected', () => {
  expect(problems({ 'README.md': 'words' })[0]).toMatch(/^no source file below /);
});

test('a file of 401 lines is rejected', () => {
  expect(problems({ 'renderer/views/long.svelte': 'x\n'.repeat(401) })).toEqual([
    'renderer/views/long.svelte has 401 lines; split it (400 at most)',
  ]);
});

test('a file outside a module and a module without an entry file are rejected', () => {
  expect(problems({ 'core/guard/stray.ts': LINE, 'core/guard/policy/rules.ts': LINE })).toEqual([
    'core/guard/policy/rules.ts: its module has no core/guard/policy/policy.ts',
    'core/guard/stray.ts is in no module; give it a folder core/guard/<module>/',
  ]);
});

test.each(['mock', 'doMock'])('a test that replaces a module with vi.%s is rejected', (method) => {
  const text = `vi.${method}('./a.ts');\n`;
  expect(problems({ 'core/base/a.ts': LINE, 'tests/faults/a.test.ts': text })).toEqual([
    'tests/faults/a.test.ts mocks a module; pass a fake to the constructor',
  ]);
});

test.each(['test.skipIf', 'test.runIf', 'describe.skip', 'context.skip', 'test.todo'])('%s without a reason is rejected', (call) => {
  expect(problems({ 'core/base/a.ts': LINE, 'core/base/a.test.ts': `${call}(slow)('works', () => {});\n` })).toEqual([
    'core/base/a.test.ts skips a test without a reason; give it needs(…) of tests/needs.ts',
  ]);
});

test('a path of one machine is rejected wherever it occurs', () => {
  const path = ['', 'work', 'notes'].join('/');
  expect(problems({ 'core/base/a.ts': LINE, 'docs/setup.md': `cd ${path}\n` })).toEqual([
    expect.stringMatching(/^docs\/setup\.md names a path of one machine/),
  ]);
});
