// Differences as rows: numbers, pairs of removals and additions, and omitted runs.

import { expect, test } from 'vitest';
import { toDiffPairs, toDiffRows, type DiffRow } from './diff-rows.ts';

const short = ({ kind, text, old, new: now, skipped }: DiffRow): string => `${kind} ${old ?? '-'} ${now ?? '-'} ${text}${skipped ?? ''}`;

test('lines are numbered on both sides, and lines between two hunks are counted', () => {
  const diff = '@@ -3,3 +3,3 @@\n c\n-d\n+D\n e\n@@ -20,2 +20,3 @@\n t\n+new\n u\n\\ No newline at end of file\n';
  expect(toDiffRows(diff).map(short)).toEqual([
    'gap - - 2',
    'same 3 3 c',
    'cut 4 - d',
    'add - 4 D',
    'same 5 5 e',
    'gap - - 14',
    'same 20 20 t',
    'add - 21 new',
    'same 21 22 u',
    'same - - \\ No newline at end of file',
  ]);
});

test('a new file begins at its first line', () => {
  expect(toDiffRows('@@ -0,0 +1,2 @@\n+a\n+b\n').map(short)).toEqual(['add - 1 a', 'add - 2 b']);
});

test('a rewrite of a long file shows removals and additions side by side from its beginning on', () => {
  const lines = Array.from({ length: 500 }, (_, index) => index);
  const diff = ['@@ -1,500 +1,500 @@', ...lines.map((n) => `-old ${n}`), ...lines.map((n) => `+new ${n}`)].join('\n');
  const rows = toDiffRows(diff);
  expect(rows).toHaveLength(1000);
  const first = rows.slice(0, 24).map(({ kind }) => kind);
  expect([first.filter((kind) => kind === 'cut').length, first.filter((kind) => kind === 'add').length]).toEqual([12, 12]);
  for (const kind of ['cut', 'add'] as const)
    expect(rows.filter((row) => row.kind === kind).map(({ text }) => Number(text.slice(4)))).toEqual(lines);
});

test('sides of different lengths lose nothing, and a difference without numbers is read as well', () => {
  const diff = ['@@', ...Array.from({ length: 20 }, (_, n) => `-${n}`), '+a', '+b', ' x', '-y'].join('\n');
  const rows = toDiffRows(diff);
  expect(rows.filter(({ kind }) => kind === 'cut')).toHaveLength(21);
  expect(rows.filter(({ kind }) => kind === 'add').map(({ text }) => text)).toEqual(['a', 'b']);
  expect(rows.every(({ old, new: now }) => old === null && now === null)).toBe(true);
});

test('the words that differ are marked, unless nearly all of a line does', () => {
  const diff = '@@ -1,3 +1,3 @@\n-const total = sum(items);\n-one\n-same end()\n+const total = sum(rows);\n+two\n+other end()\n';
  const marks = toDiffRows(diff).map(({ kind, text, mark }) => [kind, mark === undefined ? null : text.slice(mark.from, mark.to)]);
  expect(marks).toEqual([
    ['cut', 'items'],
    ['cut', null],
    ['cut', 'same'],
    ['add', 'rows'],
    ['add', null],
    ['add', 'other'],
  ]);
});

test('two columns put lines that replace each other on one level, and each row knows its hunk', () => {
  const diff = '@@ -1,3 +1,2 @@\n a\n-b\n-c\n+B\n@@ -9,1 +8,2 @@\n i\n+new\n';
  const rows = toDiffRows(diff);
  expect(rows.map(({ hunk }) => hunk)).toEqual([0, 0, 0, 0, 1, 1, 1]);
  expect(toDiffPairs(rows).map(({ left, right }) => [left?.text ?? null, right?.text ?? null])).toEqual([
    ['a', 'a'],
    ['b', 'B'],
    ['c', null],
    ['', ''],
    ['i', 'i'],
    [null, 'new'],
  ]);
});
