import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecordingSink } from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { ReplyText } from './reply-reader.ts';

function read(pieces: readonly string[]): { text: string; reasoning: string; said: string } {
  const sink = new RecordingSink();
  const reply = new ReplyText('lab', sink);
  for (const piece of pieces) reply.addText(piece);
  return { text: reply.text, reasoning: reply.reasoning, said: sink.texts.join('') };
}

test.each<[string, string, string]>([
  ['<think>\nTwo and two.\n</think>\n\nFour.', 'Four.', '\nTwo and two.\n'],
  ['\n <think>a < b </thin </think>c', 'c', 'a < b </thin '],
  ['<think></think>Four.', 'Four.', ''],
  ['<think>no end', '', 'no end'],
  ['<think>half a mark </thi', '', 'half a mark </thi'],
  ['Use <think> and </think>.', 'Use <think> and </think>.', ''],
  ['<thinking>it</thinking>', '<thinking>it</thinking>', ''],
  ['<thi', '<thi', ''],
  ['  indented', '  indented', ''],
  ['<think>a</think>b<think>c</think>', 'b<think>c</think>', 'a'],
  ['', '', ''],
])('splits %j in pieces of any size', (answer, text, reasoning) => {
  fc.assert(
    fc.property(fc.array(fc.nat(answer.length)), (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), answer.length];
      const pieces = at.slice(1).map((end, index) => answer.slice(at[index], end));
      const { said, ...whole } = read(pieces);
      expect(whole).toEqual({ text, reasoning });
      expect(text.startsWith(said)).toBe(true);
    }),
  );
});
