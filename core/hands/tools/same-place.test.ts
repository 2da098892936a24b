// The check for systems that know one file by several names: detects links and replaced files, and accepts other names of the same file.

import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { assertNoLinkTo, assertSamePlace, type PlaceCalls } from './open-file.ts';

const disk: PlaceCalls = { lstat };

function tree(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-place-')));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const folder of ['folder', 'elsewhere']) {
    mkdirSync(join(root, folder));
    writeFileSync(join(root, folder, 'a.txt'), folder);
  }
  return root;
}

async function check(path: string, meanwhile: () => void = () => undefined, fs = disk): Promise<void> {
  const handle = await open(path, 'r');
  try {
    meanwhile();
    await assertSamePlace(fs, handle, path, 'read');
  } finally {
    await handle.close();
  }
}

test('a file at the intended path passes', async () => {
  await expect(check(join(tree(), 'folder', 'a.txt'))).resolves.toBeUndefined();
});

test('a folder that is a link by now is refused, even far above the file', async () => {
  const root = tree();
  symlinkSync('elsewhere', join(root, 'link'));
  mkdirSync(join(root, 'elsewhere', 'deep'));
  writeFileSync(join(root, 'elsewhere', 'deep', 'a.txt'), 'deep');
  const said = `by a link at ${join(root, 'link')}.`;
  await expect(check(join(root, 'link', 'a.txt'))).rejects.toThrow(said);
  await expect(check(join(root, 'link', 'deep', 'a.txt'))).rejects.toThrow(said);
  await expect(assertNoLinkTo(disk, join(root, 'link', 'deep'), 'write')).rejects.toThrow(said);
});

test('a folder that led elsewhere only while the file was opened is refused', async () => {
  const root = tree();
  const path = join(root, 'folder', 'a.txt');
  renameSync(join(root, 'folder'), join(root, 'kept'));
  symlinkSync('elsewhere', join(root, 'folder'));
  const back = (): void => {
    rmSync(join(root, 'folder'));
    renameSync(join(root, 'kept'), join(root, 'folder'));
  };
  await expect(check(path, back)).rejects.toThrow(`Could not read ${path}: its folder was replaced meanwhile.`);
});

/** Finds files by the alternative names that macOS and Windows also accept. */
const lenient: PlaceCalls = {
  lstat: (path, options) => lstat(path.normalize('NFD').replace('FOLDER~1', 'folder').replace('FOLDER', 'folder'), options),
};

test.each(['FOLDER', 'FOLDER~1'])('the same folder under the name %s passes', async (name) => {
  const root = tree();
  const handle = await open(join(root, 'folder', 'a.txt'), 'r');
  await expect(assertSamePlace(lenient, handle, join(root, name, 'a.txt'), 'read')).resolves.toBeUndefined();
  await handle.close();
});

test('the same file under a composed Unicode name passes', async () => {
  const root = tree();
  const name = 'übung.txt';
  writeFileSync(join(root, 'folder', name.normalize('NFD')), 'x');
  const handle = await open(join(root, 'folder', name.normalize('NFD')), 'r');
  await expect(assertSamePlace(lenient, handle, join(root, 'folder', name.normalize('NFC')), 'read')).resolves.toBeUndefined();
  await handle.close();
});
