import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { workMs } from '../../../tests/own-clock.ts';
import { mendedArgs } from './reply-reader.ts';

test.each([
  ['```json\n{"a":1}\n```', { a: 1 }],
  ['```\n{"a":[1,2,],}```\n', { a: [1, 2] }],
  ['\uFEFF{"a":1}', { a: 1 }],
  ['{"a":"one\ntwo\tthree",\n}', { a: 'one\ntwo\tthree' }],
  ['{"a":"x,}\\",]", "b":{"c":1,},}', { a: 'x,}",]', b: { c: 1 } }],
  ['{"a":"```json\n{}\n```",}', { a: '```json\n{}\n```' }],
])('%j means %j', (args, value) => {
  expect(JSON.parse(mendedArgs(args))).toEqual(value);
});

test.each([
  '',
  '{}',
  '{"a":1',
  '{"a":"x\n',
  '{"a":1,',
  '{"a":1,,}',
  '[1,]',
  '```json\n{"a":1,',
  'words',
  "{'a':1}",
  '{"a":1} …',
  '"a"',
  '{,}…',
])('%j stays as it is', (args) => {
  expect(mendedArgs(args)).toBe(args);
});

test('no beginning of arguments becomes complete', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(), (value, at) => {
      const whole = JSON.stringify(value);
      const cut = whole.slice(0, at % whole.length);
      expect(mendedArgs(whole)).toBe(whole);
      expect(mendedArgs(cut)).toBe(cut);
    }),
  );
});

test('a megabyte of escapes and brackets takes no longer than its length asks for', () => {
  const tookMs = workMs(() => {
    for (const piece of ['\\"', ', ', '],', '{"']) {
      const args = `{"a":"${piece.repeat(500_000)}`;
      expect(mendedArgs(args)).toBe(args);
    }
  });
  expect(tookMs).toBeLessThan(5_000);
});
