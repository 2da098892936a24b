import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readLock } from './lock-file.ts';

test('a lock file that is too large is refused with the limit that holds', () => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'trayclaw-lock-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'lock.json');
  fs.writeFileSync(path, '{');
  // Sparse: nothing of it is on the disk.
  fs.truncateSync(path, 50_000_000);
  expect(() => readLock(path)).toThrow('it is no JSON');
  fs.truncateSync(path, 100_000_001);
  expect(() => readLock(path)).toThrow('it is larger than 100 MB');
});
