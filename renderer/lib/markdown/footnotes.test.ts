// Footnotes as the parser sees them; the end-to-end tests cover how they look.

import { expect, test } from 'vitest';
import { BlockStream, toBlocks, type Block } from './blocks.ts';
import { workMs } from '../../../tests/own-clock.ts';

const outline = (blocks: readonly Block[]): unknown[] =>
  blocks.map((block) => (block.kind === 'markup' ? [block.token.type, block.token.raw.trim()] : block));

test.each([
  [
    'set apart',
    'One[^1].\n\n[^1]: Its text.\n\nTwo.',
    [
      ['paragraph', 'One[^1].'],
      ['footnote', '[^1]: Its text.'],
      ['paragraph', 'Two.'],
    ],
  ],
  [
    'right below',
    'One[^a].\n[^a]: Its text\n  continues.\n[^b]: Next.',
    [
      ['paragraph', 'One[^a].'],
      ['footnote', '[^a]: Its text\n  continues.'],
      ['footnote', '[^b]: Next.'],
    ],
  ],
  [
    'no footnote',
    'An [^ open one, a [^too-long-a-mark-for-a-footnote] and [x][^1]\n\n`[^1]: code`',
    [
      ['paragraph', 'An [^ open one, a [^too-long-a-mark-for-a-footnote] and [x][^1]'],
      ['paragraph', '`[^1]: code`'],
    ],
  ],
])('%s', (_name, text, expected) => {
  expect(outline(toBlocks(text))).toEqual(expected);
});

test('what is written in a footnote is markdown, its mark in a line is a mark', () => {
  const [first, second] = toBlocks('A[^1]\n\n[^1]: **bold** [^1]');
  const kinds = (block: Block | undefined): unknown[] =>
    block?.kind === 'markup' && 'tokens' in block.token ? (block.token.tokens ?? []).map(({ type }) => type) : [];
  expect([kinds(first), kinds(second)]).toEqual([
    ['text', 'footnoteMark'],
    ['strong', 'text', 'footnoteMark'],
  ]);
});

test('streamed, it ends with the same blocks', () => {
  const text = 'One[^1].\n[^1]: Its text.\n\nTwo.\n\n[^2]: More.\n\nThree.';
  const stream = new BlockStream();
  for (let end = 0; end < text.length; end += 3) stream.update(text.slice(0, end));
  expect(outline(stream.update(text))).toEqual(outline(toBlocks(text)));
});

test('many marks and openings are read at once', () => {
  const tookMs = workMs(() => {
    toBlocks('word [^1] [^\n'.repeat(6000));
    toBlocks('[^1]: a\n'.repeat(10_000));
  });
  expect(tookMs).toBeLessThan(2000);
});
