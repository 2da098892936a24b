import fc from 'fast-check';
import { expect, test } from 'vitest';
import { english } from './i18n/english/whole.ts';
import { SentenceFeed, spokenCharsMax } from './spoken.ts';

function said(text: string, cuts: readonly number[]): string[] {
  const feed = new SentenceFeed(english.conversation.spokenCode);
  const parts = cuts.toSorted((a, b) => a - b).map((cut) => feed.next(text.slice(0, cut), false));
  return [...parts, feed.next(text, true)].filter((part) => part !== '');
}

test('sentences come when they are finished, and the rest at the end', () => {
  expect(said('One is here. Two is under way', [4, 12, 14, 20])).toEqual(['One is here.', 'Two is under way']);
  expect(said('Version 1.5 is out. Good', [10, 24])).toEqual(['Version 1.5 is out.', 'Good']);
});

test('marks are left out and code is named, not read', () => {
  expect(said('# Title\n\nSee **this** [page](https://example.org/).\n\n```js\nlet a = 1. \n```\n\n- first', [])).toEqual([
    'Title See this page. Code in js. first',
  ]);
  expect(said('Look: \n\n```js\nlet a. b\n', [18, 24])).toEqual(['Look:', 'Code in js.']);
});

test('in any pieces, every word is said once and in order', () => {
  const text = 'First sentence. Second one! Third, with more words? Fourth… Fifth';
  fc.assert(
    fc.property(fc.array(fc.nat(text.length)), (cuts) => {
      expect(said(text, cuts).join(' ')).toBe(text);
    }),
  );
});

test('a flood is cut', () => {
  const [all = ''] = said('word '.repeat(5000), []);
  expect(all.length).toBeLessThanOrEqual(spokenCharsMax + 2);
});
