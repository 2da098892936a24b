import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ReplySplitter } from './reply-splitter.ts';

function split(pieces: readonly string[], how: Partial<ConstructorParameters<typeof ReplySplitter>[0]> = {}) {
  const splitter = new ReplySplitter({ findsCalls: true, isThinking: false, ...how });
  let text = '';
  let reasoning = '';
  for (const piece of pieces) {
    const one = splitter.push(piece);
    text += one.text;
    reasoning += one.reasoning;
    if (one.callAt !== null) return { text, reasoning, callAt: one.callAt };
  }
  const last = splitter.end();
  return { text: text + last.text, reasoning: reasoning + last.reasoning, callAt: null };
}

test.each([
  ['plain text', 'Hello.', { text: 'Hello.', reasoning: '', callAt: null }],
  ['reasoning, then text', '<think>\nHm.\n</think>\n\nYes.', { text: 'Yes.', reasoning: 'Hm.\n', callAt: null }],
  ['a call after text', 'I look.<tool_call>{', { text: 'I look.', reasoning: '', callAt: 7 }],
  ['a call after reasoning', '<think>a</think><tool_call>', { text: '', reasoning: 'a', callAt: 16 }],
  ['a tag that is not one', 'a < b and <tool', { text: 'a < b and <tool', reasoning: '', callAt: null }],
  ['<think> later in a text', 'Write <think> first', { text: 'Write <think> first', reasoning: '', callAt: null }],
])('splits %s, whole or in pieces of any size', (_what, whole, expected) => {
  expect(split([whole])).toEqual(expected);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 40 }), (sizes) => {
      const pieces: string[] = [];
      let at = 0;
      for (const size of sizes) pieces.push(whole.slice(at, (at += size)));
      expect(split([...pieces, whole.slice(at)])).toEqual(expected);
    }),
  );
});

test('a prompt that ends in <think> begins with reasoning', () => {
  expect(split(['Hm.', '</think>', 'Yes.'], { isThinking: true })).toEqual({ text: 'Yes.', reasoning: 'Hm.', callAt: null });
});

test('if no tools are offered, a call tag is plain text', () => {
  expect(split(['<tool_call>'], { findsCalls: false })).toMatchObject({ text: '<tool_call>', callAt: null });
});
