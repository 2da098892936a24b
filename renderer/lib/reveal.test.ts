import fc from 'fast-check';
import { expect, test } from 'vitest';
import { revealSegments } from './reveal.ts';

const shown = (text: string): string =>
  revealSegments(text)
    .map((segment) => segment.text)
    .join('');

test.each([
  ['a\u202eb', 'a‹U+202E›b'],
  ['zero\u200bwidth', 'zero‹U+200B›width'],
  ['nul\u0000 esc\u001b', 'nul‹U+0000› esc‹U+001B›'],
  ['tags\u{e0041}', 'tags‹U+E0041›'],
  ['not assigned\u{e0000}\u2065\ufff0', 'not assigned‹U+E0000›‹U+2065›‹U+FFF0›'],
  ['fillers\u115f\u1160\u3164\uffa0\u034f\u17b4\u180b', 'fillers‹U+115F›‹U+1160›‹U+3164›‹U+FFA0›‹U+034F›‹U+17B4›‹U+180B›'],
  ['no\u00a0break', 'no‹U+00A0›break'],
  ['p\u0430ypal.com', 'p\u0430‹U+0430›ypal.com'],
  ['\u0440\u0430\u0443\u0440\u0430\u04cf', '\u0440‹U+0440›\u0430‹U+0430›\u0443‹U+0443›\u0440‹U+0440›\u0430‹U+0430›\u04cf‹U+04CF›'],
  ['rm \u2010rf \uff0f', 'rm \u2010‹U+2010›rf \uff0f‹U+FF0F›'],
  ['\u{1d41a}dmin', '\u{1d41a}‹U+1D41A›dmin'],
  ['Z\u0321\u0308\u0304\u030d\u0336\u0489x', 'Z\u0321\u0308\u0304\u030d‹U+0336›‹U+0489›x'],
  ['lone \ud800', 'lone ‹U+D800›'],
])('%j is spelled out', (text, expected) => {
  expect(shown(text)).toBe(expected);
});

test.each([
  'npm test -- --run',
  'line one\n\tline two',
  'Привет, как дела? Это обычный текст с буквами а и о.',
  'Ελληνικά κείμενο',
  'naïve café Ærø — “quoted” … 100 €',
  '你好，世界。',
  'Việt Nam'.normalize('NFD'),
  'בְּרֵאשִׁ֖ית ภาษาไทยที่ดี क्ष्म्य',
  'family 👨‍👩‍👧 and ❤️',
])('%j is left alone', (text) => {
  expect(revealSegments(text)).toEqual([{ text, kind: 'plain', note: '' }]);
});

test('nothing invisible survives, whatever the text', () => {
  const bidi = /[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u;
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => !bidi.test(shown(text))));
  const ignorable = /\p{Default_Ignorable_Code_Point}/u;
  const every = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter((char) => ignorable.test(char));
  expect(every.length).toBeGreaterThan(4_000);
  expect(every.filter((char) => shown(`a${char}b`).includes(char))).toEqual([]);
});

test('plain segments and escapes together hold every character once', () => {
  const withoutEscapes = (text: string): string => shown(text).replace(/‹U\+[0-9A-F]+›/g, '');
  fc.assert(fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 200 }), (text) => withoutEscapes(text) === text));
});
