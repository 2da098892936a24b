import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keepCompiled } from './compile-cache.ts';

test.runIf(process.platform === 'linux')('a folder that cannot be made is done without, and does not hold up the start', () => {
  expect(keepCompiled('/proc/nowhere/compiled')).toBe(false);
  expect(keepCompiled('/dev/null/compiled')).toBe(false);
});

test('compiled code is kept in a folder that is made', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-compiled-'));
  expect(keepCompiled(join(folder, 'a', 'compiled'))).toBe(true);
  rmSync(folder, { recursive: true, force: true });
});
