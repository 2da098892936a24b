import { spawnSync } from 'node:child_process';
import type * as nodeFs from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { seeOnlyOwnArchive } from './own-archive.ts';

const archive = resolve(sep, 'opt', 'app', 'app.asar');
const inArchive = join(archive, 'package.json');
const outside = ['/home/me/project/dist/app.asar', `${archive}.unpacked${sep}a`, `${archive}2`, '/home/me/notes.md'].map((path) =>
  resolve(path),
);

/** A few functions of `fs` that answer who was asked. */
function answering(who: string): typeof nodeFs {
  const answer = (): string => who;
  const exists = Object.defineProperty((): string => who, promisify.custom, { value: answer });
  const realpathSync = Object.assign((): string => who, { native: answer });
  return { statSync: answer, readSync: answer, exists, realpathSync, promises: { readFile: answer } } as unknown as typeof nodeFs;
}

function asked(fs: typeof nodeFs, path: string | URL | Buffer): unknown[] {
  const existsLater = promisify(fs.exists);
  return [fs.statSync(path), fs.realpathSync(path), fs.realpathSync.native(path.toString()), fs.promises.readFile(path), existsLater(path)];
}

test('only the own archive is an archive', () => {
  const fs = answering('Electron');
  seeOnlyOwnArchive(fs, answering('plain'), archive);
  for (const path of [archive, inArchive, join(archive, '..', 'app.asar', 'a')])
    expect([path, ...asked(fs, path)]).toEqual([path, ...Array<string>(5).fill('Electron')]);
  for (const path of outside) expect([path, ...asked(fs, path)]).toEqual([path, ...Array<string>(5).fill('plain')]);
  expect([fs.statSync(pathToFileURL(inArchive)), fs.statSync(Buffer.from(inArchive)), fs.readSync(3, Buffer.alloc(1))]).toEqual(
    Array(3).fill('Electron'),
  );
  expect([fs.statSync(pathToFileURL(outside[0] ?? '')), fs.statSync(Buffer.from(outside[0] ?? ''))]).toEqual(['plain', 'plain']);
});

// As Electron's asar-fs-wrapper.ts: a name that ends with .asar is a folder, in the entry of its folder too.
test("a person's archive is a file for a module that imported the functions by name", () => {
  const script = `
    import fs, { readFileSync, writeFileSync, mkdtempSync, rmSync, readdirSync } from 'node:fs';
    import { readFile } from 'node:fs/promises';
    import { syncBuiltinESMExports } from 'node:module';
    import { seeOnlyOwnArchive } from ${JSON.stringify(new URL('./own-archive.ts', import.meta.url).href)};
    const plain = { ...fs, promises: { ...fs.promises } };
    const refuse = () => { throw new Error('Invalid package'); };
    Object.assign(fs, { readFileSync: refuse, readdirSync: refuse });
    Object.assign(fs.promises, { readFile: refuse });
    seeOnlyOwnArchive(fs, plain, '/opt/app.asar');
    syncBuiltinESMExports();
    const folder = mkdtempSync('tcd-');
    writeFileSync(folder + '/x.asar', 'bytes');
    const found = readdirSync(folder, { withFileTypes: true }).map((entry) => [entry.name, entry.isFile()]);
    console.log(JSON.stringify([readFileSync(folder + '/x.asar', 'utf8'), await readFile(folder + '/x.asar', 'utf8'), found]));
    rmSync(folder, { recursive: true });
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    cwd: tmpdir(),
  });
  expect([stdout, stderr]).toEqual(['["bytes","bytes",[["x.asar",true]]]\n', '']);
});
