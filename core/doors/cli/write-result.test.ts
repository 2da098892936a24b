import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { needs } from '../../../tests/needs.ts';
import { writeNewResult, writeResult } from './write-result.ts';

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-result-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

test('results are private; one that is overwritten keeps its permissions', () => {
  const folder = newFolder();
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

test('a full disk is not a mistake of the person', needs('Linux'), () => {
  expect(() => writeResult('/dev/full', 'text', 'It is in the session.')).toThrow(
    expect.objectContaining({
      code: 'store_full',
      message: '/dev/full cannot be written: the disk is full.',
      hint: 'It is in the session.',
    }) as Error,
  );
});

test('a link without a target is refused, and no other file is left', needs('a Unix system'), () => {
  const folder = newFolder();
  symlinkSync('nowhere', join(folder, 'link'));
  expect(() => writeNewResult(join(folder, 'link'), 'text')).toThrow('is already there.');
  expect(readdirSync(folder)).toEqual(['link']);
});

test('a kill in the middle leaves no half result under its name', needs('a Unix system'), () => {
  const folder = newFolder();
  const script = `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const whole = fs.writeFileSync;
    fs.writeFileSync = (to, text, options) => {
      whole(to, text.slice(0, text.length / 2), options);
      process.kill(process.pid, 'SIGKILL');
      for (;;);
    };
    syncBuiltinESMExports();
    const { writeNewResult } = await import(${JSON.stringify(new URL('write-result.ts', import.meta.url).href)});
    writeNewResult(${JSON.stringify(join(folder, 'made'))}, 'the whole result');`;
  expect(spawnSync(process.execPath, ['--input-type=module-typescript', '-e', script])).toMatchObject({ signal: 'SIGKILL' });
  expect(existsSync(join(folder, 'made'))).toBe(false);
  writeNewResult(join(folder, 'made'), 'again');
});
