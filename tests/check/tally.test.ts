// The closing lines count everything that failed, not only failed tests, and list what was skipped and why.

import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeSkipped } from '../../build/skipped.ts';
import { has, needs } from '../needs.ts';
import { createTree, projectRoot } from './fixture-tree.ts';

const head = "import { expect, test } from 'vitest';\n";
const files = {
  'vitest.config.mjs': `export default { test: { setupFiles: [${JSON.stringify(join(projectRoot, 'build/open-handles.mjs'))}] } };\n`,
  'outcomes.test.ts': `${head}test('good', () => expect(1).toBe(1));\ntest('bad', () => expect(1).toBe(2));\n`,
  'skips.test.ts': `${head}const needs = { skip: true, meta: { needs: 'a moon' } };\ntest('runs', { meta: { needs: 'the earth' } }, () => expect(1).toBe(1));\ntest.each([1, 2])('each %i', { ...needs, timeout: 5 }, () => undefined);\ntest('says nothing', { skip: true }, () => undefined);\n`,
  'does-not-load.test.ts': "import './gone.ts';\n",
  'throws-late.test.ts': `${head}test('fine', () => { setTimeout(() => { throw new Error('late'); }, 1); });\ntest('waits', () => new Promise((resolve) => setTimeout(resolve, 30)));\n`,
  'leaves-open.test.ts': `${head}import { createServer } from 'node:http';\ntest('listens', async () => { const server = createServer(); await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve)); });\n`,
};

test('counts failed tests, files that fail to load, late errors and open sockets', () => {
  const root = createTree(files);
  symlinkSync(join(projectRoot, 'node_modules'), join(root, 'node_modules'), 'junction');
  const tallyFile = join(root, 'tally.json');
  const args = ['run', '--root', root, '--reporter', join(projectRoot, 'build/test-tally.ts')];
  const { stdout } = spawnSync(process.execPath, [join(projectRoot, 'node_modules/vitest/vitest.mjs'), ...args], {
    cwd: root,
    env: { ...process.env, TRAYCLAW_TEST_TALLY: tallyFile },
    encoding: 'utf8',
  });
  expect(stdout.match(/^failed: .*$/gm)?.sort()).toEqual([
    expect.stringMatching(/^failed: does-not-load\.test\.ts: .*gone/),
    'failed: leaves-open.test.ts: left open after the last test of this file: 1 TCPServerWrap',
    'failed: outcomes.test.ts > bad: expected 1 to be 2 // Object.is equality',
  ]);
  const { slowest, ...counts } = JSON.parse(readFileSync(tallyFile, 'utf8')) as { slowest: { file: string; seconds: number }[] };
  expect(counts).toEqual({ passed: 5, failed: 4, skipped: 3, lacking: { 'a moon': 2, '': 1 }, files: 5 });
  expect(slowest.map(({ file }) => file).sort()).toEqual(
    Object.keys(files)
      .filter((name) => name.endsWith('.test.ts'))
      .sort(),
  );
  expect(slowest.map(({ seconds }) => seconds)).toEqual(slowest.map(({ seconds }) => seconds).sort((a, b) => b - a));
});

test('skipped tests are one line that says what they need', () => {
  expect(describeSkipped({}, 0)).toBe('');
  expect(describeSkipped({ strace: 1, '': 4, bubblewrap: 9 }, 57)).toBe(
    'skipped: 57 end-to-end files need a Chromium (install one or set TRAYCLAW_CHROMIUM to its path); 9 tests need bubblewrap; ' +
      '1 test needs strace; 4 left out by a filter or by hand',
  );
});

test('a test is skipped only if something it needs is missing, and names it', () => {
  const [unix, windowsLike] = [needs('a Unix system'), process.platform === 'win32'];
  expect(unix).toEqual({ skip: windowsLike, meta: { needs: 'a Unix system' } });
  expect([has('root on Linux, able to mount'), has('a Unix user other than root')]).not.toEqual([true, true]);
  const without = { ...process.env, PATH: '/nonexistent' };
  const script = `import { needs } from ${JSON.stringify(new URL('../needs.ts', import.meta.url).href)};
    console.log(JSON.stringify(['strace', 'bubblewrap', 'a keychain service', 'systemd'].map((thing) => needs(thing))));`;
  const run = spawnSync(process.execPath, ['--input-type=module-typescript', '-e', script], { env: without, encoding: 'utf8' });
  expect(JSON.parse(run.stdout)).toEqual(
    ['strace', 'bubblewrap', 'a keychain service', 'systemd'].map((thing) => ({ skip: true, meta: { needs: thing } })),
  );
});
