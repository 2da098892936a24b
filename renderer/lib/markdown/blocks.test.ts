import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Tokens } from 'marked';
import { BlockStream, markdownCharsMax, toBlocks, type Block } from './blocks.ts';
import { workMs } from '../../../tests/own-clock.ts';

const document =
  '# Title\n\nFirst *part*.\n\n- one\n\n- two\n\n```ts\nconst a = 1;\n\nconst b = 2;\n```\n\n> quote\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nLast.';

const outline = (blocks: readonly Block[]): string[] =>
  blocks.map((block) => (block.kind === 'markup' ? block.token.type : `${block.kind}:${block.text.length}`));

test('a document becomes its top-level blocks, code kept as text', () => {
  expect(outline(toBlocks(document))).toEqual(['heading', 'paragraph', 'list', 'code:26', 'blockquote', 'table', 'paragraph']);
  expect(toBlocks('```py title="x"\nprint(1)\n```')).toEqual([{ kind: 'code', language: 'py', text: 'print(1)' }]);
});

test('streaming in any pieces ends with the same blocks as the whole', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(document.length), { maxLength: 30 }), (cuts) => {
      const stream = new BlockStream();
      for (const cut of cuts.toSorted((a, b) => a - b)) stream.update(document.slice(0, cut));
      expect(outline(stream.update(document))).toEqual(outline(toBlocks(document)));
    }),
  );
});

test('finished blocks keep their identity, so they are not rendered again', () => {
  const stream = new BlockStream();
  const before = stream.update('One.\n\nTwo.\n\nThree.\n\nFour');
  const after = stream.update('One.\n\nTwo.\n\nThree.\n\nFour and more');
  expect(after[0]).toBe(before[0]);
  expect(after[1]).toBe(before[1]);
});

test('the end of a stream keeps what is as before; a definition of a link changes what was read before it', () => {
  const stream = new BlockStream();
  const text = 'One [a].\n\nTwo.\n\nThree.\n\nFour.';
  const before = stream.update(text);
  const end = stream.finish(text);
  expect([outline(end), end[0] === before[0], end[1] === before[1]]).toEqual([outline(toBlocks(text)), true, true]);
  const defined = `${text}\n\n[a]: https://example.org/`;
  expect(stream.finish(defined)[0]).toEqual(toBlocks(defined)[0]);
  expect(stream.finish(defined)[0]).not.toEqual(before[0]);
});

test('a long list is several blocks that count on, and a growing one is rendered again only at its end', () => {
  const list = (items: number): string => Array.from({ length: items }, (_, at) => `${at + 5}. item`).join('\n');
  const starts = (blocks: readonly Block[]): unknown[] =>
    blocks.map((block) => block.kind === 'markup' && (block.token as Tokens.List).start);
  expect(starts(toBlocks(list(250)))).toEqual([5, 105, 205]);
  const stream = new BlockStream();
  const before = stream.update(list(250));
  const after = stream.update(list(260));
  expect([after[0] === before[0], after[1] === before[1], after[2] === before[2]]).toEqual([true, true, false]);
});

test('a text that is not a continuation starts over', () => {
  const stream = new BlockStream();
  stream.update('One.\n\nTwo.\n\nThree.\n\nFour.');
  expect(outline(stream.update('# Other'))).toEqual(['heading']);
});

test.each([
  ['very long', 'x'.repeat(markdownCharsMax + 1)],
  ['deep quotes', '>'.repeat(50_000)],
  ['lists in lists', Array.from({ length: 300 }, (_, depth) => ' '.repeat(depth * 2) + '- x').join('\n')],
  ['open brackets', '['.repeat(50_000)],
])('%s text is shown plainly and at once', (_name, text) => {
  const tookMs = workMs(() => {
    expect(toBlocks(text)).toEqual([{ kind: 'plain', text }]);
  });
  expect(tookMs).toBeLessThan(500);
});

test.each([
  ['a rule of many hyphens', '-'.repeat(80), ['hr']],
  ['a list of five levels', Array.from({ length: 5 }, (_, depth) => ' '.repeat(depth * 2) + '- x').join('\n'), ['list']],
  ['carriage returns', 'One.\r\n\r\nTwo.', ['paragraph', 'paragraph']],
])('%s is still markdown', (_name, text, expected) => {
  expect(outline(toBlocks(text))).toEqual(expected);
});

test.each([
  ['apart', '<details>\n<summary>More</summary>\n\n**bold**\n\n</details>\n\nAfter.'],
  ['close together', 'Before.\n<details><summary><b>More</b></summary>**bold**</details>\nAfter.'],
  [
    'one in another, and a tag in code',
    '<details>\n<summary>More</summary>\n\n<details><summary>In</summary>x</details>\n\n```\n</details>\n```\n</details>\n\nAfter.',
  ],
])('a folded part is one block with its markdown: %s', (_how, text) => {
  const blocks = toBlocks(text);
  expect(outline(blocks).at(-1)).toBe('paragraph');
  expect(blocks.find(({ kind }) => kind === 'details')).toMatchObject({ summary: 'More' });
  expect(blocks.filter(({ kind }) => kind === 'details').length).toBe(1);
});

test('a folded part without its end holds the rest; a tag with an attribute is text', () => {
  expect(toBlocks('<details>\n<summary>More</summary>\n\nSo far')).toEqual([{ kind: 'details', summary: 'More', text: '\nSo far' }]);
  expect(outline(toBlocks('<details onclick="x">\n<summary>More</summary>\n\nSo far\n</details>'))).not.toContain('details');
});
