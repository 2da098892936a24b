import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { needs } from '../../../tests/needs.ts';
import { changedSince } from './changed-files.ts';

let root = '';
let sinceMs = 0;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-changed-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(...paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), path);
  }
}

/** Files changed from now on count as new. */
async function start(): Promise<void> {
  await sleep(120);
  sinceMs = Date.now();
}

async function look(more: { readonly moved?: boolean; readonly entriesMax?: number } = {}): Promise<string[]> {
  const found = await changedSince({ folders: [root], sinceMs, moved: false, ...more });
  return found.map((path) => relative(root, path) + (path.endsWith('/') ? '/' : '')).sort();
}

test('finds files written, changed and renamed since, even with forged times', async () => {
  put('old.md', 'a/old.md', 'a/b/renamed.md', 'changed.md');
  await start();
  put('new.md', 'a/c/new.md', 'changed.md');
  renameSync(join(root, 'a/b/renamed.md'), join(root, 'a/b/name.md'));
  utimesSync(join(root, 'new.md'), 1, 1);
  expect(await look()).toEqual(['a/b/name.md', 'a/c/new.md', 'changed.md', 'new.md']);
});

test('of a .git, only what git fetched counts', async () => {
  put('own/.git/FETCH_HEAD', 'clone/.git/HEAD', 'tree/.git/worktrees/x/HEAD', 'idle/.git/FETCH_HEAD', 'idle/.git/objects/pack/a');
  mkdirSync(join(root, 'x'));
  writeFileSync(join(root, 'x/.git'), `gitdir: ${join(root, 'tree/.git/worktrees/x')}\n`);
  // All checkouts of a repository have the objects that came with a fetch in one of them.
  writeFileSync(join(root, 'tree/.git/worktrees/x/commondir'), '../..\n');
  put('tree/.git/worktrees/y/HEAD');
  for (const name of ['x', 'y']) writeFileSync(join(root, `tree/.git/worktrees/${name}/gitdir`), `${join(root, name, '.git')}\n`);
  await start();
  put('own/.git/FETCH_HEAD', 'clone/.git/objects/pack/b', 'tree/.git/worktrees/x/FETCH_HEAD', 'idle/.git/objects/ab/c', 'idle/.git/HEAD');
  expect(await look()).toEqual(['clone/.git/', 'own/.git/', 'tree/.git/', 'x/.git', 'y/.git']);
});

test('a pipe named .git is not waited for', async () => {
  await start();
  execFileSync('mkfifo', [join(root, '.git')]);
  put('new.md');
  expect(await look()).toEqual(['new.md']);
});

test('does not follow links and skips .git', async () => {
  put('a/old.md');
  await start();
  symlinkSync('/etc', join(root, 'etc'));
  put('.git/objects/x');
  expect(await look()).toEqual([]);
});

test('a moved folder counts with everything in it', async () => {
  put('notes/deep/saved.md', 'other/old.md');
  await start();
  renameSync(join(root, 'notes'), join(root, 'kept'));
  expect(await look()).toEqual([]);
  expect(await look({ moved: true })).toEqual(['kept/deep/saved.md']);
});

test('a moved folder that cannot be read counts as a whole', needs('a Unix user other than root'), async () => {
  put('notes/saved.md');
  await start();
  renameSync(join(root, 'notes'), join(root, 'kept'));
  chmodSync(join(root, 'kept'), 0);
  expect(await look({ moved: true })).toEqual(['kept/']);
  chmodSync(join(root, 'kept'), 0o700);
});

test('checks the nearest folders first; folders too large count as a whole', async () => {
  put('src/old.ts', ...Array.from({ length: 30 }, (_, at) => `modules/m${at}/old.js`), 'modules/m1/deep/old.js');
  await start();
  put('src/new.ts', 'top.md');
  expect(await look({ entriesMax: 35 })).toEqual(['modules/', 'src/new.ts', 'top.md']);
  expect(await look({ entriesMax: 2 })).toEqual(['/']);
  expect(await look()).toEqual(['src/new.ts', 'top.md']);
});

test('lists very many changed files by their folders', async () => {
  put('old.md');
  await start();
  put('new.md', ...Array.from({ length: 250 }, (_, at) => `out/${at % 5}/${at}.js`));
  expect(await look()).toEqual(['new.md', 'out/']);
});
