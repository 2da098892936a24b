import { constants, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { isAppError } from '../../contracts/errors.ts';
import { makeParents, openPlainFile } from './open-file.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-open-')));
mkdirSync(join(root, 'elsewhere'));
writeFileSync(join(root, 'elsewhere', 'a.txt'), 'a');
symlinkSync('elsewhere', join(root, 'swapped'));
symlinkSync('elsewhere/a.txt', join(root, 'link.txt'));
afterAll(() => rmSync(root, { recursive: true }));

const isLinux = process.platform === 'linux';
const meant = join(root, 'swapped', 'a.txt');

async function failureOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'none';
  } catch (cause) {
    return isAppError(cause) ? cause.message : String(cause);
  }
}

test('opens the file at the intended path', async () => {
  const handle = await openPlainFile(join(root, 'elsewhere', 'a.txt'), constants.O_RDONLY, 'read');
  expect(await handle.readFile('utf8')).toBe('a');
  await handle.close();
});

test('refuses a path whose folder was replaced by a link since the check', async () => {
  const path = isLinux ? meant : join(root, 'swapped');
  const replaced = `its folder was replaced meanwhile ${isLinux ? `and leads to ${join(root, 'elsewhere', 'a.txt')}` : `by a link at ${path}`}.`;
  expect(await failureOf(openPlainFile(meant, constants.O_RDONLY, 'read'))).toBe(`Could not read ${path}: ${replaced}`);
  const written = openPlainFile(meant, constants.O_WRONLY, 'write');
  expect(await failureOf(written)).toBe(`Could not write ${path}: ${replaced}`);
  expect(readFileSync(meant, 'utf8')).toBe('a');
});

test('folders created through a link are not taken for the intended ones', async () => {
  const folder = join(root, 'swapped', 'new');
  expect(await failureOf(makeParents(join(folder, 'b.txt'), 'write'))).toBe(
    `Could not write ${folder}: its folder was replaced meanwhile ${isLinux ? `and leads to ${join(root, 'elsewhere', 'new')}` : `by a link at ${join(root, 'swapped')}`}.`,
  );
  expect(existsSync(join(folder, 'b.txt'))).toBe(false);
});

test('refuses a link at the end, and anything that is not a plain file', async () => {
  expect(await failureOf(openPlainFile(join(root, 'link.txt'), constants.O_RDONLY, 'read'))).not.toBe('none');
  expect(await failureOf(openPlainFile(root, constants.O_RDONLY, 'read'))).toBe(`Could not read ${root}: this is a folder, not a file.`);
});
