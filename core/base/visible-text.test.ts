// Text in approvals: characters that hide or deceive are escaped, honest text of any language stays readable.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { revealed, safeForTerminal } from './visible-text.ts';

test.each([
  ['git\u200Bstatus', 'git\\u{200b}status'],
  ['a\u202Etxt.exe', 'a\\u{202e}txt.exe'],
  ['x\u3164y', 'x\\u{3164}y'],
  ['tab\there', 'tab\\u{9}here'],
  ['no\u00A0break', 'no\\u{a0}break'],
  ['p\u0430ypal.com', 'p\\u{430}ypal.com'],
  ['\uFF52m -rf', '\uFF52m -rf'.replace('\uFF52', '\\u{ff52}')],
  ['\u{1D5FF}\u{1D5FA} \u217Cs', '\\u{1d5ff}\\u{1d5fa} \\u{217c}s'],
  ['line\nline', 'line\nline'],
  ['Привет мир', 'Привет мир'],
  ['naïve café 日本語 🙂', 'naïve café 日本語 🙂'],
])('%j is shown as %j', (text, shown) => {
  expect(revealed(text)).toBe(shown);
});

test('shows no invisible characters and keeps all visible ones', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(revealed(text)).not.toMatch(/[\p{Cf}\p{Default_Ignorable_Code_Point}]|(?!\n)\p{Cc}/u);
      expect(safeForTerminal(text)).not.toMatch(/(?![\n\t])\p{Cc}/u);
    }),
  );
  fc.assert(fc.property(fc.stringMatching(/^[ -~]*$/), (text) => revealed(text) === text && safeForTerminal(text) === text));
});
