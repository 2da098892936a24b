import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ok } from '../../base/result.ts';
import { lexLiteral } from './literal-lexer.ts';
import { readPlainLine } from './plain-line.ts';
import { literalWords } from './shell-tree.ts';

const read = (line: string, platform: NodeJS.Platform = 'linux') => {
  const result = readPlainLine(line, platform);
  return result.ok ? result.value : result.error;
};

test.each([
  ['ls', ['ls']],
  ['  ls\t-la  ', ['ls', '-la']],
  [`grep -n "foo bar" 'a;b' x"y"'z'`, ['grep', '-n', 'foo bar', 'a;b', 'xyz']],
  [`echo "a \\"b\\" \\$c \\\\ \\d $"`, ['echo', 'a "b" $c \\ \\d $']],
  [`echo '' ""`, ['echo', '', '']],
  ['git diff HEAD~1 HEAD^ a@b x=1 50% a,b a#b', ['git', 'diff', 'HEAD~1', 'HEAD^', 'a@b', 'x=1', '50%', 'a,b', 'a#b']],
  ['find . ! -name x', ['find', '.', '!', '-name', 'x']],
  ['ls my\\ folder a\\;b \\$HOME \\`x\\` \\\\', ['ls', 'my folder', 'a;b', '$HOME', '`x`', '\\']],
  ['find . \\( -name x -o -name y \\)', ['find', '.', '(', '-name', 'x', '-o', '-name', 'y', ')']],
  ['echo Hello, world!', ['echo', 'Hello,', 'world!']],
  [`grep "日本語 é ‽ 🙂" 'Привет'`, ['grep', '日本語 é ‽ 🙂', 'Привет']],
])('%s is plain', (line, argv) => {
  expect(read(line)).toEqual(argv);
});

test.each([
  ['', 'it is empty'],
  ['ls;', 'it chains several commands'],
  ['ls & ls', 'it runs something in the background'],
  ['ls | cat', 'it pipes one command into another'],
  ['ls > x', 'it redirects input or output'],
  ['ls 2>&1', 'it redirects input or output'],
  ['cat << E', 'it contains a here-document'],
  ['cat <(x)', 'it contains a process substitution'],
  ['ls $(x)', 'it contains a command substitution'],
  ['ls "`x`"', 'it contains a command substitution'],
  ['ls $((1))', 'it contains an arithmetic expansion'],
  ['ls "$x"', 'it contains a variable'],
  ["ls $'x'", 'it contains a quotation only some shells know'],
  ['ls {a,b}', 'it contains a brace expansion'],
  ['ls *.md', 'it contains a pattern the shell replaces by file names'],
  ['ls ~/x', 'it contains a home folder expansion (~)'],
  ['make X=~/x', 'it contains a home folder expansion (~)'],
  ['ls # x', 'it contains a comment'],
  ['ls !x', 'it contains a history expansion'],
  ['echo "a!b"', 'it contains a history expansion'],
  ['l\\s', 'it contains a backslash outside quotes'],
  ['ls \\', 'it contains a backslash outside quotes'],
  ['ls \\\nx', 'it contains a backslash outside quotes'],
  ['ls \\é', 'it contains a backslash outside quotes'],
  ['ls \\\\; x', 'it chains several commands'],
  ['echo a!b', 'it contains a history expansion'],
  ['ls\nls', 'it has more than one line'],
  ["ls 'a\nb'", 'it has more than one line'],
  ["ls 'a", 'a quote is not closed'],
  ['A=1 ls', 'it sets variables for the command'],
  ['"ls"', "the program's name is in quotes"],
  ['l@s', "the program's name holds an unusual character"],
  ['time ls', "time is part of the shell's own language"],
  ['cd src', 'cd is a command of the shell itself'],
  ['printf -v x y', "the shell's own printf understands this in another way"],
  ["ls 'a\u202eb'", 'it contains a character that cannot be seen'],
  ["ls 'a\u200bb'", 'it contains a character that cannot be seen'],
  ["ls 'a\u0007b'", 'it contains a control character'],
  ["ls 'a\u3164b'", 'it contains a character that cannot be seen'],
  ['ls\u00a0x', 'it contains a character that cannot be seen'],
  ['ls ；x', 'it contains a character that only looks like one of the shell'],
  ['ls аbc', 'it contains a letter outside plain ASCII without quotes'],
  [`ls${' '.repeat(40)}x`, 'a long run of blanks could hide what follows'],
  [`ls ${'x '.repeat(600)}`, 'it has more than 512 words'],
  [`ls ${'x'.repeat(9000)}`, 'it is longer than 8192 characters'],
])('%j is not plain: %s', (line, why) => {
  expect(read(line)).toBe(why);
});

test('reads unnecessarily quoted text literally', () => {
  const word = fc
    .string({ unit: 'grapheme', maxLength: 12 })
    .map((text) => text.replace(/['\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\ufffc]/gu, ''));
  fc.assert(
    fc.property(fc.array(word, { maxLength: 5 }), (words) => {
      expect(read(['ls', ...words.map((text) => `'${text}'`)].join(' '))).toEqual(['ls', ...words]);
    }),
  );
});

test('each parser catches a mistake of the other', () => {
  const words = (...texts: string[]) => texts.map((text) => ({ text, isBare: true }));
  const blindLexer = { lex: () => ok(words('ls', '$(x)')), parse: literalWords };
  expect(readPlainLine('ls $(x)', 'linux', blindLexer)).toMatchObject({ ok: false, error: 'it contains an expansion' });
  const wrongLexer = { lex: () => ok(words('ls', 'a', 'b')), parse: literalWords };
  expect(readPlainLine('ls "a b"', 'linux', wrongLexer)).toMatchObject({ ok: false, error: 'it can be read in more than one way' });
  const blindParser = { lex: lexLiteral, parse: () => ok(['ls', '$(x)']) };
  expect(readPlainLine('ls $(x)', 'linux', blindParser)).toMatchObject({ ok: false, error: 'it contains a command substitution' });
  expect(readPlainLine('ls "a b"', 'linux', { lex: lexLiteral, parse: literalWords })).toEqual(ok(['ls', 'a b']));
});

test('understands only programs with plain words in PowerShell', () => {
  expect(read('git status --short', 'win32')).toEqual(['git', 'status', '--short']);
  expect(read(`git log 'a b' "c d"`, 'win32')).toEqual(['git', 'log', 'a b', 'c d']);
  const refused = [
    'ls',
    'git status; calc',
    'git status & calc',
    'git log $x',
    'git log "$x"',
    'git log @x',
    'git log a,b',
    "git log 'a'b",
  ];
  const more = [
    'Get-Item x',
    'git --% x',
    '& git',
    'git `x',
    'git (x)',
    'git {x}',
    'git ‘x’',
    "git 'a’b'",
    '.\\git',
    'iex x',
    'git #x',
    '"git" x',
    '',
  ];
  expect([...refused, ...more].filter((line) => readPlainLine(line, 'win32').ok)).toEqual([]);
});
