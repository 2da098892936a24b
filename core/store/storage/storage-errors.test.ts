import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { mapStorageError } from './storage.ts';
import { toAppError } from '../../contracts/errors.ts';

function causeOf(work: () => unknown): unknown {
  try {
    work();
  } catch (cause) {
    return cause;
  }
  throw new Error('it was expected to fail');
}

test('a failed file call says which path, why, and what to do; a bug and a failed connection stay as they are', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-errno-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const loop = join(folder, 'loop');
  symlinkSync(loop, loop);
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const long = join(folder, 'x'.repeat(300));
  const causes: [unknown, string, string][] = [
    [causeOf(() => readFileSync(loop)), 'store_failed', `${loop} could not be used: the last part is a symbolic link`],
    [causeOf(() => mkdirSync(long)), 'store_failed', `${long} could not be used: the name is too long.`],
    [causeOf(() => readFileSync(join(file, 'x'))), 'store_failed', `${join(file, 'x')} could not be used: a part of this path is a file`],
    [
      Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', syscall: 'read' }),
      'store_failed',
      'A file could not be used: the disk',
    ],
    [Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' }), 'store_full', 'A file could not be used: the disk is full.'],
    [
      Object.assign(new Error('EACCES'), { code: 'EACCES', syscall: 'open', path: '/p' }),
      'store_readonly',
      '/p could not be used: this user',
    ],
    [
      Object.assign(new Error('EMFILE'), { code: 'EMFILE', syscall: 'open', path: '/p' }),
      'store_failed',
      '/p could not be used: too many files are open.',
    ],
    [causeOf(() => openSync(folder, 'w')), 'store_readonly', `${folder} could not be used: this is a folder, not a file.`],
    [
      Object.assign(new Error('EFBIG'), { code: 'EFBIG', syscall: 'write' }),
      'store_failed',
      'A file could not be used: it would grow beyond the size that the system allows.',
    ],
  ];
  for (const [cause, code, message] of causes) {
    for (const error of [toAppError(cause), mapStorageError(cause)]) {
      expect(error.toBody()).toMatchObject({
        code,
        message: expect.stringContaining(message) as string,
        hint: expect.any(String) as string,
      });
    }
  }
  const refused = await new Promise((resolve) => connect(1, '127.0.0.1').on('error', resolve));
  const forbidden = Object.assign(new Error('EACCES'), { code: 'EACCES', syscall: 'listen', port: 80 });
  for (const cause of [refused, forbidden, new Error('bug')]) expect(toAppError(cause).code).toBe('internal');
});
