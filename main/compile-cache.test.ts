import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { keepCompiled } from './compile-cache.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-compiled-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('a folder that cannot be made is done without, and does not hold up the start', () => {
  const file = join(newFolder(), 'file');
  writeFileSync(file, '');
  expect(keepCompiled(join(file, 'compiled'))).toBe(false);
  if (process.platform === 'linux') expect(keepCompiled('/proc/nowhere/compiled')).toBe(false);
});

test('compiled code is kept in a folder that is made', () => {
  expect(keepCompiled(join(newFolder(), 'a', 'compiled'))).toBe(true);
});
