import { chmodSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeFolders } from './make-folders.ts';
import { needs } from '../../tests/needs.ts';

const fs = { mkdirSync, statSync };
const projectRoot = fileURLToPath(new URL('../..', import.meta.url));
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'trayclaw-folders-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('creates missing folders with the mode and returns the highest of them', () => {
  expect(makeFolders(fs, join(root, 'a', 'b', 'c'))).toBe(join(root, 'a'));
  expect(statSync(join(root, 'a', 'b', 'c')).mode & 0o777).toBe(0o700);
  expect(makeFolders(fs, join(root, 'a', 'b'))).toBeNull();
  expect(makeFolders(fs, join(root, 'a', 'x'), 0o750)).toBe(join(root, 'a', 'x'));
  chmodSync(join(root, 'a', 'x'), 0o700);
});

test('fails for a file, a broken link, a loop and a too long name instead of hanging', () => {
  writeFileSync(join(root, 'file'), '');
  symlinkSync('gone', join(root, 'broken'));
  symlinkSync('loop', join(root, 'loop'));
  const codeOf = (path: string): string => {
    try {
      makeFolders(fs, path);
      return 'made';
    } catch (cause) {
      return (cause as NodeJS.ErrnoException).code ?? '';
    }
  };
  expect(['file', 'file/below', 'broken', 'loop', 'loop/below', 'n'.repeat(300)].map((name) => codeOf(join(root, name)))).toEqual([
    'EEXIST',
    'ENOTDIR',
    'EEXIST',
    'ELOOP',
    'ELOOP',
    'ENAMETOOLONG',
  ]);
});

test('fails at once below /proc', needs('Linux'), () => {
  for (const path of ['/proc/trayclaw/data', '/proc/sys/trayclaw']) expect(() => makeFolders(fs, path)).toThrow('ENOENT');
});

test('no other code of the program creates folders recursively', () => {
  const files = ['core', 'main', 'preload'].flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: projectRoot }));
  const own = files.filter((file) => !/(\.test|-bench)\.ts$/.test(file));
  const recursive = /\bmkdir(Sync)?\((?:[^;]|\n)*?recursive: true/;
  expect(own.length).toBeGreaterThan(300);
  expect(own.filter((file) => recursive.test(readFileSync(join(projectRoot, file), 'utf8')))).toEqual([]);
  expect(recursive.test('mkdirSync(dirname(path), { recursive: true, mode: 0o700 })')).toBe(true);
});
