// The closing line counts everything that went wrong, not only the tests that said so.

import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTree, projectRoot } from './fixture-tree.ts';

const head = "import { expect, test } from 'vitest';\n";
const files = {
  'vitest.config.mjs': `export default { test: { setupFiles: [${JSON.stringify(join(projectRoot, 'build/open-handles.mjs'))}] } };\n`,
  'outcomes.test.ts': `${head}test('good', () => expect(1).toBe(1));\ntest('bad', () => expect(1).toBe(2));\ntest.skip('later', () => undefined);\n`,
  'does-not-load.test.ts': "import './gone.ts';\n",
  'throws-late.test.ts': `${head}test('fine', () => { setTimeout(() => { throw new Error('late'); }, 1); });\ntest('waits', () => new Promise((resolve) => setTimeout(resolve, 30)));\n`,
  'leaves-open.test.ts': `${head}import { createServer } from 'node:http';\ntest('listens', async () => { const server = createServer(); await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve)); });\n`,
};

test('failed tests, files that do not load, late errors and open sockets each count as a failure', () => {
  const root = createTree(files);
  symlinkSync(join(projectRoot, 'node_modules'), join(root, 'node_modules'), 'junction');
  const tallyFile = join(root, 'tally.json');
  const args = ['run', '--root', root, '--reporter', join(projectRoot, 'build/test-tally.mjs')];
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
  expect(counts).toEqual({ passed: 4, failed: 4, skipped: 1, files: 4 });
  expect(slowest.map(({ file }) => file).sort()).toEqual(
    Object.keys(files)
      .filter((name) => name.endsWith('.test.ts'))
      .sort(),
  );
  expect(slowest.map(({ seconds }) => seconds)).toEqual(slowest.map(({ seconds }) => seconds).sort((a, b) => b - a));
});
