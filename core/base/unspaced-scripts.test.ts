import { expect, test } from 'vitest';
import { hasUnspaced, lettersApart, searchedParts } from './unspaced-scripts.ts';

test.each([
  ['a plain text', 'a plain text'],
  ['Grüße, Привет, 한국어 단어', 'Grüße, Привет, 한국어 단어'],
  ['東京tower', '東 京 tower'],
  ['サーバーを再起動', 'サ ー バ ー を 再 起 動'],
  ['ที่นี่', 'ที่ นี่'],
  ['👍 好', '👍 好'],
])('%s as a word index gets it', (text, apart) => {
  expect(lettersApart(text)).toBe(apart);
  expect(hasUnspaced(text)).toBe(text !== apart || text.includes('好'));
});

test.each([
  ['word', ['word']],
  ['港', ['港']],
  ['東京都', ['東 京', '京 都']],
  ['iphone16を買う', ['iphone16', 'を 買', '買 う']],
])('a search for %s looks for %s', (word, parts) => {
  expect(searchedParts(word)).toEqual(parts);
});
