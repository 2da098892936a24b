// Sources that appear, change, disappear and return, and the kinds of source.

import { mkdirSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { directory, knowledgeBench } from '../../../../tests/rigs/core/features/memory/knowledge-bench.ts';
import { until } from '../../../../tests/until.ts';

const { folderOf, openBench } = knowledgeBench(onTestFinished);

test('sources that are added, changed and removed while it runs are reindexed', async () => {
  const folder = folderOf({ 'a.md': 'Apples are red.', 'b.txt': 'Bananas are yellow.' });
  const { knowledge, look, find, rows, tick } = openBench([directory(folder)]);
  await look();
  const fruit = directory(folder, { name: 'fruit' });
  knowledge.take([
    directory(folder, { endings: ['md'] }),
    fruit,
    { name: 'pears', kind: 'inline', title: 'Pears', text: 'Pears are green.' },
  ]);
  await knowledge.settled();
  expect(knowledge.list().map(({ name, documents }) => [name, documents])).toEqual([
    ['docs', 1],
    ['fruit', 2],
    ['pears', 1],
  ]);
  knowledge.take([fruit]);
  expect(await find('pears green')).toEqual([]);
  expect(rows.sources().sort()).toEqual(['docs', 'fruit', 'pears']);
  tick();
  await knowledge.settled();
  expect(rows.sources()).toEqual(['fruit']);
  expect((await find('bananas')).map(({ citation }) => citation)).toEqual(['fruit/b.txt:1']);
});

test('a source removed during reading stops, and shows its progress until then', async () => {
  const files = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${index}.md`, `Number ${index}.`]));
  const { knowledge, thread, rows } = openBench([directory(folderOf(files))]);
  const run = thread.run.bind(thread);
  const told: unknown[] = [];
  Object.assign(thread, {
    run: (job: Parameters<typeof run>[0]) => {
      if (job.kind === 'read') told.push(knowledge.list()[0]?.progress);
      if (told.length === 3) knowledge.take([]);
      return run(job);
    },
  });
  knowledge.start();
  await knowledge.settled();
  expect(told).toEqual([
    { done: 0, total: 30 },
    { done: 1, total: 30 },
    { done: 2, total: 30 },
  ]);
  expect(rows.counts('docs').documents).toBeLessThanOrEqual(3);
});

test('other work runs while the documents of an emptied folder are removed', async () => {
  const folder = folderOf(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${index}.md`, `Number ${index}.`])));
  const { look, knowledge, rows } = openBench([directory(folder)]);
  await look();
  for (let index = 0; index < 30; index += 1) unlinkSync(join(folder, `${index}.md`));
  const seen = new Set<number>();
  const watching = setInterval(() => seen.add(rows.counts('docs').documents), 0);
  onTestFinished(() => clearInterval(watching));
  await look();
  expect(knowledge.list()).toMatchObject([{ documents: 0, progress: null }]);
  expect(
    [...seen].filter((documents) => documents > 0 && documents < 30),
    'seen in between',
  ).not.toEqual([]);
});

test('a source can be a single file; it keeps its index if the file is missing', async () => {
  const folder = folderOf({ 'a.md': 'Apples are red.', '.hidden': 'Hidden words of apples.' });
  const { look, knowledge, find } = openBench([directory(folder, { only: '.hidden' })]);
  expect(await look()).toEqual(['.hidden']);
  expect((await find('apples')).map(({ citation }) => citation)).toEqual(['docs/.hidden:1']);
  unlinkSync(join(folder, '.hidden'));
  expect(await look()).toEqual([]);
  expect(knowledge.list()).toMatchObject([{ kind: 'file', documents: 1, problem: 'The file is not there or may not be read.' }]);
});

test('an unavailable folder keeps its index; one removed from the settings does not', async () => {
  const folder = folderOf({ 'a.md': 'Apples are red.' });
  const home = folderOf({});
  const first = openBench([directory(folder)], [], home);
  await first.look();
  renameSync(folder, `${folder}-away`);
  await first.look();
  expect(first.knowledge.list()).toMatchObject([{ documents: 1, problem: 'The folder is not there or may not be read.' }]);
  expect(await first.find('apples')).toHaveLength(1);
  renameSync(`${folder}-away`, folder);
  await first.look();
  expect(first.knowledge.list()).toMatchObject([{ documents: 1, problem: null }]);
  await first.close();
  const second = openBench([{ name: 'other', kind: 'inline', title: 'Other', text: 'Pears are green.' }], [], home);
  await second.look();
  expect(second.rows.sources()).toEqual(['other']);
  expect(await second.find('apples')).toEqual([]);
  expect((await second.find('pears'))[0]?.citation).toBe('inline:other:1');
});

test('a folder that comes back is followed again', async () => {
  const folder = folderOf({ 'a.md': 'Apples are red.' });
  const { look, knowledge, tick, waits, find } = openBench([directory(folder, { watch: true })]);
  await look();
  renameSync(folder, `${folder}-away`);
  onTestFinished(() => rmSync(`${folder}-away`, { recursive: true }));
  tick();
  await knowledge.settled();
  expect(waits(), 'it is looked for once a minute').toContain(60_000);
  mkdirSync(folder);
  tick();
  await knowledge.settled();
  expect(waits()).not.toContain(60_000);
  writeFileSync(join(folder, 'b.md'), 'Bananas are yellow.');
  await until(() => waits().includes(500), 'the watcher tells of the new file');
  tick();
  await knowledge.settled();
  expect((await find('bananas')).map(({ citation }) => citation)).toEqual(['docs/b.md:1']);
});

test('a folder with data of the program is refused', async () => {
  const { look, knowledge } = openBench([directory(folderOf({ 'a.md': 'x y' }), { refused: 'It is private.' })]);
  expect(await look()).toEqual([]);
  expect(knowledge.list()).toMatchObject([{ documents: 0, problem: 'It is private.' }]);
});
