// The shortlist on the shipped sentences: 100 tasks in everyday words, each with the bundled skill that fits it.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findSkills, folderNameOf, readSkill } from './skill-folders.ts';
import { readHead } from './skill-head.ts';
import { SkillIndex, stem, termsOf } from './skill-index.ts';

const sentences = JSON.parse(readFileSync(new URL('fixtures/task-sentences.json', import.meta.url), 'utf8')) as {
  task: string;
  skill: string;
}[];

function bundledIndex(): SkillIndex {
  const found = findSkills(fileURLToPath(new URL('../../../skills', import.meta.url)));
  return new SkillIndex(
    found.map((one) => {
      const read = readSkill(one);
      if (!read.ok) throw new Error(read.error.reason);
      const { file } = read.value;
      const { name, description, tools } = readHead(file.head, folderNameOf(one.folder), file.body);
      const headings = file.body.split('\n').filter((line) => /^#{1,6}\s/.test(line));
      return { name, description, topics: [...headings, ...tools].join(' ') };
    }),
  );
}

test('ranks the right skill first for 90 of 100 tasks, in the first three for 95', () => {
  const index = bundledIndex();
  const places = sentences.map(({ task, skill }) => index.find(task, 5).findIndex(({ name }) => name === skill));
  expect(sentences).toHaveLength(100);
  expect(places.filter((at) => at === 0).length).toBeGreaterThanOrEqual(90);
  expect(places.filter((at) => at >= 0 && at < 3).length).toBeGreaterThanOrEqual(95);
});

test('few other skills are offered with the right one', () => {
  const index = bundledIndex();
  const offered = sentences.reduce((sum, { task }) => sum + index.find(task, 5).length, 0);
  expect(offered / sentences.length).toBeLessThanOrEqual(1.25);
});

test('messages unrelated to any skill match none', () => {
  const index = bundledIndex();
  for (const text of [
    'hello',
    'thanks',
    'what do you think',
    '',
    '???',
    'kthxbye',
    'Write hello.md with the text: Hello',
    'Delete the file',
    'Read them',
    'Please look at the state of this item and tell me in one or two lines what changed since we last spoke about it, and in which turn.',
  ])
    expect([text, index.find(text, 5)]).toEqual([text, []]);
});

test('forms of a word match each other', () => {
  for (const [a, b] of [
    ['summaries', 'summary'],
    ['summarize', 'summarise'],
    ['files', 'file'],
    ['watching', 'watch'],
    ['planned', 'plan'],
    ['reviews', 'review'],
    ['batches', 'batch'],
  ] as const) {
    expect([a, stem(a)]).toEqual([a, stem(b)]);
  }
  expect(termsOf('The THE a of and')).toEqual([]);
});

test('scripts without spaces and with marks match by pairs of letters and by whole words', () => {
  const index = new SkillIndex([
    { name: 'reports', description: '毎週の報告書を作成する', topics: '' },
    { name: 'invoices', description: '整理发票并汇总金额', topics: '' },
    { name: 'travel', description: 'วางแผนการเดินทาง', topics: '' },
    { name: 'letters', description: 'पत्र लिखना', topics: '' },
  ]);
  const first = (query: string) => index.find(query, 5)[0]?.name;
  expect(['今週の報告書をお願いします', '请帮我汇总这些发票', 'ช่วยวางแผนเดินทาง', 'एक पत्र'].map(first)).toEqual([
    'reports',
    'invoices',
    'travel',
    'letters',
  ]);
  expect(first('料理の作り方')).toBeUndefined();
});

test('thousands of skills and long questions stay bounded', () => {
  const index = new SkillIndex(
    Array.from({ length: 10_001 }, (_, at) => ({ name: `s${at}`, description: `word${at} shared`, topics: 'shared '.repeat(1_000) })),
  );
  expect(index.find('word9999', 5).map(({ name }) => name)).toEqual(['s9999']);
  expect(index.find('word10000', 5)).toEqual([]);
  expect(index.find('shared '.repeat(100_000), 5).length).toBeLessThanOrEqual(5);
});
