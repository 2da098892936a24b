// Disks that lack what most have: owners, modes, names in UTF-8.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { needs } from '../../../tests/needs.ts';
import { createToolBench } from '../../../tests/rigs/tool-bench.ts';

const bench = createToolBench();
const at = (...parts: string[]): string => join(bench.workspace, ...parts);
afterAll(() => bench.dispose());

// As FUSE does for a network folder, a phone or a stick: chown, chmod and the sync of a folder answer ENOSYS or ENOTSUP.
test('write_file works on a disk without owners and modes', async () => {
  writeFileSync(at('a.txt'), 'old');
  const folder = await open(bench.workspace);
  const calls = Object.getPrototypeOf(folder) as FileHandle;
  const before = Object.getOwnPropertyDescriptors(calls);
  const refuse = (code: string) => () => Promise.reject(Object.assign(new Error(`${code}: not here`), { code }));
  Object.assign(calls, { chown: refuse('ENOSYS'), chmod: refuse('ENOTSUP') });
  calls.sync = async function (this: FileHandle) {
    if ((await this.stat()).isDirectory()) await refuse('EINVAL')();
  };
  onTestFinished(async () => {
    Object.defineProperties(calls, before);
    await folder.close();
  });
  expect((await bench.call('write_file', { path: 'a.txt', content: 'new' })).outcome).toBe('ok');
  expect([readFileSync(at('a.txt'), 'utf8'), readdirSync(bench.workspace)]).toEqual(['new', ['a.txt']]);
});

test('list_dir names a file whose name is not text', needs('Linux'), async () => {
  mkdirSync(at('odd'));
  writeFileSync(Buffer.concat([Buffer.from(at('odd', 'a')), Buffer.from([0xff])]), '');
  expect((await bench.call('list_dir', { path: 'odd' })).forModel).toBe('a\uFFFD  (its name is not UTF-8: only a command can use it)');
});
