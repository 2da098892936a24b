import { expect, test } from 'vitest';
import { toFileDiff } from './version-diff.ts';

const same = (text: string) => ({ kind: 'same', text }) as const;

test('changes are shown with some lines around them, and a mark between them', () => {
  const far = Array.from({ length: 10 }, (_, index) => same(`line ${index}`));
  const lines = [
    same('head'),
    { kind: 'removed', text: 'old' },
    { kind: 'added', text: '@@ new' },
    ...far,
    { kind: 'added', text: 'end' },
  ] as const;
  expect(toFileDiff(lines, 'style')).toEqual({
    path: 'style',
    change: 'changed',
    diff: [' head', '-old', '+@@ new', ' line 0', ' line 1', ' line 2', '@@', ' line 7', ' line 8', ' line 9', '+end'].join('\n'),
    addedLines: 2,
    removedLines: 1,
    note: null,
  });
});

test('two versions that say the same differ in nothing', () => {
  expect(toFileDiff([same('a'), same('b')], 'style')).toMatchObject({ change: 'none', diff: null, addedLines: 0, removedLines: 0 });
  expect(toFileDiff([], 'style')).toMatchObject({ change: 'none', diff: null });
});
