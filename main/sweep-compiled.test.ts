// Old compiled code is removed, and recent code stays.

import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sweepCompiled } from './sweep-compiled.ts';

test('removes code that was compiled more than a month ago', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tcc-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [old, kept] = [join(folder, 'v22', 'a'), join(folder, 'v24', 'b')];
  const nowMs = Date.UTC(2026, 5, 1);
  for (const [path, days] of [
    [old, 31],
    [kept, 29],
  ] as const) {
    mkdirSync(join(path, '..'));
    writeFileSync(path, 'code');
    const at = new Date(nowMs - days * 86_400_000);
    utimesSync(path, at, at);
  }
  await sweepCompiled(folder, nowMs);
  expect([existsSync(old), existsSync(kept)]).toEqual([false, true]);
  await sweepCompiled(join(folder, 'absent'), nowMs);
});
