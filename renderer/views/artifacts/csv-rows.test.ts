import { expect, test } from 'vitest';
import { csvRows, separatorOf } from './csv-rows.ts';

test.each([
  [
    'a,b\n1,2\n',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'a,"b, c"\r\n"say ""hi""","two\nlines"',
    [
      ['a', 'b, c'],
      ['say "hi"', 'two\nlines'],
    ],
  ],
  ['one\n\ntwo', [['one'], [''], ['two']]],
  ['a,"never closed\nb', [['a', 'never closed\nb']]],
  ['', []],
])('%j becomes its rows', (text, rows) => {
  expect(csvRows(text, ',', 100)).toEqual(rows);
});

test('rows are limited, and the separator is that of the first line', () => {
  expect(csvRows('1\n2\n3\n', ',', 2)).toEqual([['1'], ['2']]);
  expect([separatorOf('a;b;c\n1,2'), separatorOf('a\tb'), separatorOf('plain'), separatorOf('')]).toEqual([';', '\t', ',', ',']);
});
