import { expect, test } from 'vitest';
import { fuzzyMatch, matchOffer, piecesOf } from './fuzzy.ts';

const ranked = (query: string, texts: readonly string[]): string[] =>
  texts
    .map((text) => ({ text, match: fuzzyMatch(query, text) }))
    .filter(({ match }) => match !== null)
    .toSorted((a, b) => (b.match?.score ?? 0) - (a.match?.score ?? 0))
    .map(({ text }) => text);

test('letters in order are found, first those at the beginnings of words', () => {
  const names = ['Go to Settings', 'New session', 'Rename session', 'Export session as Markdown', 'Stop turn'];
  expect(ranked('ns', names)[0]).toBe('New session');
  expect(ranked('ns', ['/sessions', 'Compact density', 'New session'])[0]).toBe('New session');
  expect(ranked('em', names)[0]).toBe('Export session as Markdown');
  expect(ranked('sett', names)).toEqual(['Go to Settings']);
  expect(ranked('session', names)[0]).toBe('New session');
  expect(ranked('xyz', names)).toEqual([]);
});

test('case, accents and blanks do not matter, and a match gives its place in the text', () => {
  expect(fuzzyMatch('ZUSTA', 'Zum Zustand')?.at).toEqual([4, 5, 6, 7, 8]);
  expect(fuzzyMatch('loschen', 'Sitzung löschen')?.at).toEqual([8, 9, 10, 11, 12, 13, 14]);
  expect(fuzzyMatch('go se', 'Go to Settings')?.at).toEqual([0, 1, 6, 7]);
  expect(fuzzyMatch('  ', 'anything')).toEqual({ score: 0, at: [] });
  expect(piecesOf('Go to Settings', [0, 1, 6, 7])).toEqual([
    { text: 'Go', isHit: true },
    { text: ' to ', isHit: false },
    { text: 'Se', isHit: true },
    { text: 'ttings', isHit: false },
  ]);
});

test('texts of any length and with any characters take no time worth naming', () => {
  const long = 'a'.repeat(100_000);
  expect(fuzzyMatch('a'.repeat(1000), long)).not.toBeNull();
  expect(piecesOf('👍 ok', fuzzyMatch('ok', '👍 ok')?.at ?? [])).toEqual([
    { text: '👍 ', isHit: false },
    { text: 'ok', isHit: true },
  ]);
  expect(fuzzyMatch('ß', 'İstanbul ß')?.at).toEqual([9]);
});

test('another word for a name is found from its beginning, below a word of a name and above strewn letters', () => {
  const score = (query: string, name: string, also?: string): number => matchOffer(query, name, also)?.score ?? -1;
  expect(score('cost', 'Go to usage', 'money costs')).toBeGreaterThan(score('cost', 'More contrast'));
  expect(score('cost', 'Costs of today')).toBeGreaterThan(score('cost', 'Go to usage', 'money costs'));
  expect(score('ost', 'Go to usage', 'money costs')).toBe(-1);
  expect(matchOffer('Costs', 'Go to usage', 'money costs')).toEqual({ score: 45, at: [] });
  expect(matchOffer('', 'Go to usage', 'money')).toEqual({ score: 0, at: [] });
});
