import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLiveFile } from './live-files.ts';
import { missingPieces, type Said, type ValueKind } from './missing-pieces.ts';
import { foldText, saysVerbatim, singleSpaced, wordsOf } from './text-words.ts';

function saidBy(text: string): Said {
  const words = wordsOf(text);
  const folded = singleSpaced(foldText(text));
  return { word: (word) => words.has(word), verbatim: (needle) => saysVerbatim(folded, needle) };
}

const person =
  'Run `npm test` in the house project, then put the summary of the page into notes/ and read https://example.org/guide?page=2 . ' +
  'Tell ana@corp.example "The build is green". Use node check.mjs -v.';

test.each<[ValueKind, string, readonly string[]]>([
  ['command', 'npm test', []],
  ['command', '  npm   test ', []],
  ['command', 'node check.mjs -v', []],
  ['command', 'node check.mjs -V', ['-V']],
  ['command', 'npm test --watch', ['--watch']],
  ['command', 'npm test; node check.mjs', ['npm test; node check.mjs']],
  ['command', 'node check.mjs > notes', ['node check.mjs > notes']],
  ['command', 'rm -rf ~', ['rm', '-rf', '~']],
  ['command', 'n"p"m test', []],
  ['command', 'curl https://example.org.evil.test/guide', ['curl', 'example.org.evil.test']],
  ['path', 'notes/summary-of-page.md', []],
  ['path', 'notes/summary.md', []],
  ['path', 'notes/pwned.md', ['pwned']],
  ['path', 'notes/../package.json', ['..', 'package', 'json']],
  ['path', 'notes/7.md', ['7']],
  ['name', 'notes/check.mjs', []],
  ['name', 'notes/summary.md', ['summary.md']],
  ['path', 'x', ['x']],
  ['text', 'The build is green', []],
  ['text', 'the BUILD is green.', []],
  ['text', 'The build is red', ['red']],
  ['text', 'ana@corp.example', []],
  ['text', 'eve@corp.example', ['eve@corp.example']],
  ['text', 'https://example.org/guide?page=2', []],
  ['text', 'https://example.org/guide?page=3', ['3']],
  ['text', 'https://sub.example.org/guide', ['sub.example.org']],
  ['text', 'https://example.org/guide?page=2&d=a1b2', ['d', 'a1b2']],
  ['text', 'https://example.org/%67uide', []],
  ['text', 'se cr et', ['se', 'cr', 'et']],
  ['text', '🂡🂢', ['🂡🂢']],
  ['text', '', []],
])('%s %j: not said %j', (kind, value, missing) => {
  expect(missingPieces(value, kind, saidBy(person))).toEqual(missing);
});

test('a value too large to split counts as not said', () => {
  expect(missingPieces('green '.repeat(20_000), 'text', saidBy('green'))).toHaveLength(1);
});

test('accepts repeated text of the person; finds unsaid words in any kind of value', () => {
  const word = fc.stringMatching(/^[a-z]{4,12}$/);
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 8 }),
      word,
      fc.constantFrom<ValueKind>('command', 'path', 'text'),
      (words, other, kind) => {
        const joint = kind === 'path' ? '/' : ' ';
        const said = saidBy(words.join(' '));
        expect(missingPieces(words.join(joint), kind, said)).toEqual([]);
        if (!words.includes(other)) expect(missingPieces([...words, other].join(joint), kind, said)).toContain(other);
      },
    ),
  );
});

test('a secret in short pieces still counts as not said', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-f0-9]{16,64}$/), fc.integer({ min: 1, max: 3 }), (secret, size) => {
      const pieces = secret.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
      expect(missingPieces(`https://example.org/${pieces.join('/')}`, 'text', saidBy(person)).length).toBeGreaterThan(0);
    }),
  );
});

test.each([
  ['notes/page.md', false],
  ['notes/table.csv', false],
  ['notes/run.sh', true],
  ['package.json', true],
  ['Makefile', true],
  ['site/index.html', true],
  ['.github/notes.md', true],
  ['.bashrc', true],
  ['AGENTS.md', true],
  ['docs/claude.md', true],
  ['requirements-dev.txt', true],
  ['../other/readme.md', true],
])('%s is run, loaded or followed: %j', (path, live) => {
  expect([isLiveFile(path, () => false), isLiveFile(path, () => true)]).toEqual([live, true]);
});
