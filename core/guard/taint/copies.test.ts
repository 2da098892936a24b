import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JudgedCall } from './taint.ts';
import { pathFact, TaintBench, workspace } from '../../../tests/rigs/taint-test-bench.ts';

let bench: TaintBench;
let folder = '';

beforeEach(() => {
  bench = new TaintBench();
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-copies-')));
  put('old.md');
});
afterEach(() => {
  bench.dispose();
  rmSync(folder, { recursive: true, force: true });
});

function put(name: string): string {
  writeFileSync(join(folder, name), name);
  return join(folder, name);
}

/** A command in the session's folder, which exists on disk. */
function command(sessionId: string): JudgedCall {
  return inside(bench.exec(sessionId, 'npm test', folder));
}

const inside = (call: JudgedCall): JudgedCall => ({
  ...call,
  facts: { ...call.facts, workspace: folder, paths: call.facts.paths.map((path) => ({ ...path, insideWorkspace: true })) },
});

/** Session `a` reads a page and saves its text to a file. */
async function save(name: string): Promise<void> {
  bench.say('a', 'Keep it.');
  bench.browse('a', 'example.org', 'apricot orchard');
  const path = put(name);
  bench.there.add(path);
  bench.run(bench.write('a', path, 'apricot orchard'), '');
  await sleep(120);
}

const readBy = (sessionId: string, path: string): string[] => {
  bench.run(inside(bench.read(sessionId, path)), 'text');
  return bench.store.session(sessionId)?.sources.map(({ where }) => where) ?? [];
};

test('runs no search and no SQL statement while no file is marked', async () => {
  bench.storage.dispose();
  const watch = bench.book.watch(command('b').facts);
  put('fresh.md');
  expect((await watch?.(false))?.paths).toEqual([]);
  bench.open();
});

test('marks a file changed by a command that could read a marked file', async () => {
  await save('saved.md');
  const watch = bench.book.watch(command('b').facts);
  const copy = put('copy.md');
  const copies = await watch?.(false);
  expect(copies?.paths).toEqual([copy]);
  bench.run(command('b'), '', copies === undefined ? {} : { copies });
  expect(bench.store.writerOf(copy)).toBe('b');
  expect(bench.store.session('b')?.sources).toContainEqual({ kind: 'file', where: join(folder, 'saved.md') });
  expect([readBy('c', copy), readBy('d', join(folder, 'old.md'))]).toEqual([[copy], []]);
});

test('a command in a subfolder takes over the sources it may have copied', async () => {
  await save('saved.md');
  mkdirSync(join(folder, 'sub'));
  const watch = bench.book.watch(command('b').facts);
  put('sub/copy.md');
  const below = inside(bench.exec('b', 'sh run.sh', join(folder, 'sub')));
  const copies = await watch?.(false);
  bench.run(below, '', copies === undefined ? {} : { copies });
  expect(bench.store.session('b')?.sources).toEqual([{ kind: 'file', where: join(folder, 'saved.md') }]);
});

test('a command that changes nothing or only reads marks nothing', async () => {
  await save('saved.md');
  const call = command('b');
  expect((await bench.book.watch(call.facts)?.(false))?.paths).toEqual([]);
  expect(bench.book.watch({ ...call.facts, class: 'read' })).toBeNull();
  bench.there.clear();
  const watch = bench.book.watch(call.facts);
  put('fresh.md');
  expect((await watch?.(false))?.paths).toEqual([]);
});

test('marks every file that a command changed if it fetched, although none was marked before', async () => {
  await sleep(120);
  const watch = bench.book.watch(command('b').facts);
  mkdirSync(join(folder, 'clone'));
  const fetched = { kind: 'command', where: 'git' } as const;
  const [first, second] = [put('clone/README.md'), put('page.html')];
  const copies = await watch?.(true);
  expect(copies?.paths.toSorted()).toEqual([first, second].toSorted());
  bench.run(command('b'), '', { fetched, ...(copies === undefined ? {} : { copies }) });
  expect(bench.store.session('b')?.sources).toEqual([fetched]);
  bench.there.add(first);
  expect([readBy('c', first), readBy('d', join(folder, 'old.md'))]).toEqual([[first], []]);
});

test('a folder that a call wrote without a search is marked with everything in it', () => {
  const into = `${workspace}/vendor`;
  bench.folders.add(into);
  bench.run(
    { ...bench.write('a', into, ''), facts: { class: 'network', hosts: ['x.org'], command: null, paths: [pathFact(into, 'write')] } },
    '',
  );
  expect(bench.store.writerOf(`${into}/deep/a.md`)).toBe('a');
});

test('a folder marked as a whole marks each file in it until that is rewritten', () => {
  const deep = `${workspace}/out/deep/a.md`;
  const mark = (): void =>
    bench.append('a', {
      type: 'taint.marked',
      body: { callId: null, sources: [{ kind: 'web', where: 'x' }], paths: [`${workspace}/out/`] },
    });
  bench.there.add(`${workspace}/out/`);
  mark();
  expect([deep, `${workspace}/output.md`, `${workspace}/out/`].map((path) => bench.store.writerOf(path))).toEqual(['a', null, 'a']);
  expect([`${workspace}/out`, `${workspace}/out/deep`, workspace].map((path) => bench.store.filesBelow(path, '', 5))).toEqual(
    Array.from({ length: 3 }, () => [`${workspace}/out/`]),
  );
  const search = bench.call('b', 'grep', { path: 'out/deep' }, { paths: [pathFact('out/deep', 'read')] });
  bench.run(search, 'a.md:1: text');
  expect(bench.store.session('b')?.sources.map(({ where }) => where)).toEqual([`${workspace}/out/`, `${workspace}/out/deep`]);
  bench.run(bench.write('clean', deep, 'mine'), '');
  bench.reopen();
  expect([deep, `${workspace}/out/deep/b.md`].map((path) => bench.store.writerOf(path))).toEqual([null, 'a']);
  mark();
  expect(bench.store.writerOf(deep)).toBe('a');
});

test('what git fetched is read by commands that use git, and by no others', () => {
  const git = join(folder, '.git') + '/';
  bench.there.add(git);
  bench.append('a', { type: 'taint.marked', body: { callId: null, sources: [{ kind: 'command', where: 'git' }], paths: [git] } });
  const told = (line: string, cwd = folder): string[] => {
    const session = line + cwd;
    bench.run(inside(bench.exec(session, line, cwd)), 'text');
    return bench.store.session(session)?.sources.map(({ where }) => where) ?? [];
  };
  const all = [
    'git log origin/main',
    'git -C sub show FETCH_HEAD:a',
    'cat .git/FETCH_HEAD',
    'git add . && git merge origin/main',
    'git status; git log',
  ];
  for (const line of all) expect([line, told(line)]).toEqual([line, [git]]);
  expect(told('git log --all', join(folder, 'sub/deeper'))).toEqual([git]);
  for (const line of ['ls', 'npm test', 'git status', 'git -C sub add . && git commit -m x'])
    expect([line, told(line)]).toEqual([line, []]);
  bench.run(inside(bench.call('grep', 'grep', { path: '.' }, { paths: [pathFact(folder, 'read')] })), 'a.md:1: text');
  expect(bench.store.session('grep')).toBeNull();
});
