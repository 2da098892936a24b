// A file that Windows holds briefly is still replaced. A file that is held permanently, or an error elsewhere, fails.

import * as nodeFs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { renameOver, renameOverLater, replaceFile } from './rename-over.ts';

const held = (code: string): Error => Object.assign(new Error(code), { code });

/** Refuses the given number of times. */
function disk(refusals: number, code = 'EPERM'): { tried: number; renameSync(): void; rename(): Promise<void> } {
  return {
    tried: 0,
    renameSync() {
      this.tried += 1;
      if (this.tried <= refusals) throw held(code);
    },
    rename() {
      return new Promise((resolve) => {
        this.renameSync();
        resolve();
      });
    },
  };
}

test.each(['EPERM', 'EACCES', 'EBUSY'])('retries %s on Windows with increasing pauses', async (code) => {
  const paused: number[] = [];
  const fs = disk(5, code);
  renameOver(fs, 'a', 'b', { isWindows: true, pause: (ms) => paused.push(ms) });
  expect([fs.tried, paused]).toEqual([6, [10, 20, 40, 80, 160]]);
  const later = disk(2, code);
  await renameOverLater(later, 'a', 'b', true);
  expect(later.tried).toBe(3);
});

test('fails with the original error if Windows holds the file permanently', async () => {
  const fs = disk(9);
  expect(() => renameOver(fs, 'a', 'b', { isWindows: true, pause: () => undefined })).toThrow('EPERM');
  expect(fs.tried).toBe(6);
  await expect(renameOverLater(disk(9, 'EBUSY'), 'a', 'b', true)).rejects.toThrow('EBUSY');
});

test('does not retry on other systems or for other errors', async () => {
  const pause = (): never => {
    throw new Error('it waited');
  };
  for (const [isWindows, code] of [
    [false, 'EPERM'],
    [true, 'ENOENT'],
    [true, 'ENOSPC'],
  ] as const) {
    const fs = disk(1, code);
    expect(() => renameOver(fs, 'a', 'b', { isWindows, pause })).toThrow(code);
    expect(fs.tried).toBe(1);
    await expect(renameOverLater(disk(1, code), 'a', 'b', isWindows)).rejects.toThrow(code);
  }
});

test('a replaced file is whole and private; a failure leaves the old one and no other file', () => {
  const folder = nodeFs.mkdtempSync(join(tmpdir(), 'trayclaw-replace-'));
  onTestFinished(() => nodeFs.rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'new', 'notes.txt');
  replaceFile(nodeFs, path, 'one');
  replaceFile(nodeFs, path, Buffer.from('two'));
  const look = () => [nodeFs.readdirSync(join(folder, 'new')), nodeFs.readFileSync(path, 'utf8'), nodeFs.statSync(path).mode & 0o777];
  const whole = [['notes.txt'], 'two', process.platform === 'win32' ? 0o666 : 0o600];
  expect(look()).toEqual(whole);
  const full = {
    ...nodeFs,
    writeFileSync(to: string) {
      nodeFs.writeFileSync(to, 'th');
      throw held('ENOSPC');
    },
  };
  expect(() => replaceFile(full, path, 'three')).toThrow('ENOSPC');
  expect(look()).toEqual(whole);
});
