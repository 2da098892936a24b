import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeNewResult, writeResult } from './write-result.ts';

test('results are private; one that is overwritten keeps its permissions', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-result-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [made, given] = [join(folder, 'made'), join(folder, 'given')];
  writeNewResult(made, 'new');
  expect(() => writeNewResult(made, 'other')).toThrow(`${made} is already there.`);
  for (const text of ['first', 'second']) writeResult(given, text, 'none');
  expect([readFileSync(made, 'utf8'), readFileSync(given, 'utf8')]).toEqual(['new', 'second']);
  if (process.platform === 'win32') return;
  expect([statSync(made).mode & 0o777, statSync(given).mode & 0o777]).toEqual([0o600, 0o600]);
  chmodSync(given, 0o640);
  writeResult(given, 'third', 'none');
  expect(statSync(given).mode & 0o777).toBe(0o640);
});
