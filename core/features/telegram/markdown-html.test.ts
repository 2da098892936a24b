import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseHtml } from '../../../tests/doubles/telegram/entities.ts';
import { toTelegramPieces } from './markdown-html.ts';
import { workMs } from '../../../tests/own-clock.ts';
import { soak } from '../../../tests/soak.ts';

const html = (markdown: string): string[] => toTelegramPieces(markdown, 4096).map((piece) => piece.html);

test.each([
  ['plain <b> & words', 'plain &lt;b&gt; &amp; words'],
  ['**bold** and *italic* and ~~gone~~', '<b>bold</b> and <i>italic</i> and <s>gone</s>'],
  ['**bold *and italic* within**', '<b>bold </b><b><i>and italic</i></b><b> within</b>'],
  ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
  ['`a < b` and ``x`y``', '<code>a &lt; b</code> and <code>x`y</code>'],
  ['# Title #', '<b>Title</b>'],
  ['> said', '<blockquote>said</blockquote>'],
  ['- one\n- *two*', '• one\n• <i>two</i>'],
  ['[text](https://a.example/?q=1&r="2")', '[text](https://a.example/?q=1&amp;r="2")'],
  ['[text](https://a.example/?q=1&r=2)', '<a href="https://a.example/?q=1&amp;r=2">text</a>'],
  ['[text](javascript:alert(1))', '[text](javascript:alert(1))'],
  ['\\*not bold\\*', '*not bold*'],
  ['```ts\nconst a = "<b>";\n```\nafter', '<pre><code class="language-ts">const a = "&lt;b&gt;";</code></pre>\nafter'],
  ['```\nnever closed *x*', '<pre>never closed *x*</pre>'],
  ['**never closed', '**never closed'],
])('%j', (markdown, expected) => {
  expect(html(markdown)).toEqual([expected]);
});

test('blank text gives no messages', () => {
  expect(html(' \n\n ')).toEqual([]);
});

test('code is closed at the end of a piece and reopened in the next', () => {
  const code = Array.from({ length: 30 }, (_, at) => `line ${at} <${'x'.repeat(10)}>`).join('\n');
  const pieces = toTelegramPieces(`Look:\n\`\`\`py\n${code}\n\`\`\`\nDone.`, 200);
  expect(pieces.length).toBeGreaterThan(2);
  for (const { html: one } of pieces) expect(one.match(/<pre>/g)?.length).toBe(one.match(/<\/pre>/g)?.length);
  expect(pieces.slice(1, -1).every(({ html: one }) => one.startsWith('<pre><code class="language-py">'))).toBe(true);
});

const morsel = fc.oneof(
  fc.constantFrom(
    '*',
    '**',
    '_',
    '__',
    '~~',
    '`',
    '```',
    '\n```\n',
    '\n',
    '\n\n',
    '# ',
    '> ',
    '- ',
    '[',
    '](https://a.example)',
    ')',
    '<',
    '>',
    '&',
    '\\',
    '😀',
    '👩‍👩‍👧',
    ' ',
  ),
  fc.string({ maxLength: 12, unit: 'grapheme' }),
  fc.string({ minLength: 30, maxLength: 120 }),
);
const loneSurrogate = /\p{Surrogate}/u;
const squeezed = (text: string): string => text.replaceAll(/\s+/g, '');

test('any text gives valid pieces within the limit, with whole characters, complete', () => {
  fc.assert(
    fc.property(fc.array(morsel, { maxLength: 60 }), fc.integer({ min: 8, max: 400 }), (morsels, lengthMax) => {
      const markdown = morsels.join('');
      const whole = toTelegramPieces(markdown, Number.MAX_SAFE_INTEGER);
      const pieces = toTelegramPieces(markdown, lengthMax);
      for (const piece of pieces) {
        const { text } = parseHtml(piece.html);
        expect(text).toBe(piece.plain);
        expect(text.length).toBeLessThanOrEqual(lengthMax);
        expect(text.trim()).not.toBe('');
        if (!loneSurrogate.test(markdown)) expect(loneSurrogate.test(text)).toBe(false);
      }
      expect(squeezed(pieces.map(({ plain }) => plain).join(''))).toBe(squeezed(whole.map(({ plain }) => plain).join('')));
    }),
    { numRuns: soak(2_000, 100_000) },
  );
});

test('text without markup is unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '<', '&', '.', '!', '😀'), maxLength: 500 }), (text) => {
      const pieces = toTelegramPieces(text, 50);
      expect(squeezed(pieces.map(({ plain }) => plain).join(''))).toBe(squeezed(text));
    }),
  );
});

test('text that is expensive to parse is read in time', () => {
  const tookMs = workMs(() => {
    toTelegramPieces('*a _b **c '.repeat(20_000), 4096);
  });
  expect(tookMs).toBeLessThan(5_000);
});
