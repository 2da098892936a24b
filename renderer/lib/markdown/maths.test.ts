import { expect, test } from 'vitest';
import { workMs } from '../../../tests/own-clock.ts';
import { toBlocks } from './blocks.ts';

function inline(text: string): string[] {
  const [block] = toBlocks(text);
  if (block?.kind !== 'markup' || !('tokens' in block.token)) return [];
  return (block.token.tokens ?? []).flatMap((token) => (token.type === 'formula' && 'text' in token ? [String(token['text'])] : []));
}

test.each([
  ['a $x$ b', ['x']],
  ['a \\(x + 1\\) b and $$y$$', ['x + 1', 'y']],
  ['$\\$5$', ['\\$5']],
  ['it is $5 and $10', []],
  ['from $5-$10, or $ x $', []],
  ['`$x$` and \\$x\\$', []],
  ['$x', []],
])('%s holds the formulas %j', (text, expected) => {
  expect(inline(text)).toEqual(expected);
});

test.each(['$$\nx^2\n$$', '\\[\nx^2\n\\]', '$$x^2$$\n'])('%j is a formula on its own', (text) => {
  expect(toBlocks(`Before.\n\n${text}\n\nAfter.`).map(({ kind }) => kind)).toEqual(['markup', 'formula', 'markup']);
});

test('many beginnings without an end are read at once', () => {
  // Processor time, because other work on the machine must not count.
  const tookMs = workMs(() => {
    for (const flood of ['$$ a\n\n', '$a ', '\\(a ', '\\[ a\n\n']) toBlocks(flood.repeat(2000));
  });
  expect(tookMs).toBeLessThan(3000);
});
