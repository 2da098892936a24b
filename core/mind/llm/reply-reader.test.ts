// The text of an answer on its way to a listener.

import { expect, test } from 'vitest';
import { ReplyText } from './reply-reader.ts';

test('an emoji whose halves arrive in two pieces is passed on whole', () => {
  const told: string[] = [];
  const said = new ReplyText('lab', { text: (text) => told.push(text), reasoning: (text) => told.push(text) });
  for (const piece of ['a\ud83d', '\ude00b', '\ud83d', '\ude00']) said.addText(piece);
  for (const piece of ['c\ud83d', '\ude00']) said.addReasoning(piece);
  expect([told, said.text, said.reasoning]).toEqual([['a', '😀b', '😀', 'c', '😀'], 'a😀b😀', 'c😀']);
});
