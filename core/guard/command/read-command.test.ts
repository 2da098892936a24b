import { expect, test } from 'vitest';
import { flagTable, readArguments } from './argument-reader.ts';
import { readGit, readReader } from './read-command.ts';

const read = (line: string) => {
  const [program = '', ...args] = line.split(' ');
  return readReader(program, args);
};

test('parses flags as a manual writes them', () => {
  const table = flagTable('-a, -n N, --lines=N, --color[=WHEN], -f FILE, -NUM');
  const given = (...args: string[]) => {
    const result = readArguments(args, table);
    return result === null ? null : { flags: result.flags, operands: result.operands, files: result.files };
  };
  expect(given('-an3', 'x', '--lines', '4', '--color=auto', '-5', '-fy', '--', '-z')).toEqual({
    flags: [
      { flag: '-a', value: null },
      { flag: '-n', value: '3' },
      { flag: '--lines', value: '4' },
      { flag: '--color', value: 'auto' },
      { flag: '-NUM', value: '5' },
      { flag: '-f', value: 'y' },
    ],
    operands: ['x', '-z'],
    files: ['y'],
  });
  for (const args of [['-z'], ['-az'], ['--line=3'], ['--lines'], ['-n'], ['-n', 'x'], ['-a=1'], ['--a'], ['-5x']])
    expect(given(...args)).toBeNull();
  expect(() => flagTable('--')).toThrow(TypeError);
  expect(() => flagTable('lines')).toThrow(TypeError);
});

test.each([
  ['cat -n a b', { reads: 'prints files', files: ['a', 'b'], walks: [] }],
  ['sort -u -k2 -t, x', { reads: 'sorts lines', files: ['x'], walks: [] }],
  ['grep -n x a -', { reads: 'searches in files', files: ['a'], walks: [] }],
  ['grep -e x -f p a', { reads: 'searches in files', files: ['p', 'a'], walks: [] }],
  ['grep -rn x', { reads: 'searches in files', files: ['.'], walks: [{ root: '.', shows: 'content', entersHidden: true }] }],
  ['rg x src', { reads: 'searches in files', files: ['src'], walks: [{ root: 'src', shows: 'content', entersHidden: false }] }],
  ['rg -g .env x', { reads: 'searches in files', files: ['.'], walks: [{ root: '.', shows: 'content', entersHidden: true }] }],
  ['rg -t sh x', { reads: 'searches in files', files: ['.'], walks: [{ root: '.', shows: 'content', entersHidden: true }] }],
  ['ls', { reads: 'lists files', files: ['.'], walks: [] }],
  ['ls -lR a', { reads: 'lists files', files: ['a'], walks: [{ root: 'a', shows: 'names', entersHidden: true }] }],
  [
    'find a b -maxdepth 2 -newer c -name x',
    {
      reads: 'finds files',
      files: ['a', 'b', 'c'],
      walks: [
        { root: 'a', shows: 'names', entersHidden: true, depthMax: 2 },
        { root: 'b', shows: 'names', entersHidden: true, depthMax: 2 },
      ],
    },
  ],
  ['sed -n 1,5p x', { reads: 'prints lines of files', files: ['x'], walks: [] }],
  ['date +%s', { reads: 'shows the time', files: [], walks: [] }],
  ['jq -r .a x', { reads: 'reads JSON', files: ['x'], walks: [] }],
])('%s only reads', (line, reading) => {
  expect(read(line)).toEqual(reading);
});

test.each([
  ['sed s/a/b/g x', ['x']],
  ['sed -n -E s|a|b|p x y', ['x', 'y']],
  ['sed -e /a/,/b/d x', ['x']],
  ['sed $d x', ['x']],
  ['sed 5q x', ['x']],
  ['sed -n /a\\/b/= x', ['x']],
  ['paste -d , x y', ['x', 'y']],
  ['join -1 2 -2 1 x y', ['x', 'y']],
  ['strings -n 4 x', ['x']],
  ['xxd -l 16 x', ['x']],
  ['xxd -l16 -c8 x', ['x']],
  ['xxd -ps x', ['x']],
  ['tree -ad -L 2 x', ['x']],
  ['sed s/[^a-z]/x/g x', ['x']],
  ['sed s/[[:space:]]*$// x', ['x']],
  ['sed s/\\[x\\]/y/ x', ['x']],
  ['sed s/[]a]/[/ x', ['x']],
  ['base64 -d x', ['x']],
  ['seq 1 5', []],
  ['hostname', []],
  ['free -h', []],
])('%s only reads %j', (line, files) => {
  expect(read(line)?.files).toEqual(files);
});

test.each([
  'sort -o x y',
  'sort -uo x y',
  'sort --output=x y',
  'sort --outp=x y',
  'sort --compress-program=x y',
  'sort -T . x',
  'sort --files0-from=x',
  'sort -S 1 x',
  'uniq a b',
  'wc --files0-from=x',
  'tail -f x',
  'tail +2f',
  'tail --follow x',
  'grep -R x .',
  'grep -d recurse x .',
  'grep',
  'diff -r a b',
  'diff -l a b',
  'rg --pre x y',
  'rg --pre=x y',
  'rg -z x',
  'rg -L x',
  'rg --hostname-bin=x y',
  'rg --ignore-file x y',
  'ls -L',
  'ls -H',
  'du -L',
  'du --files0-from=x',
  'tree -l',
  'tree -o x',
  'tree -R',
  // Programs that read bundles in their own way, and write their last operand here.
  'tree -Po x PWNED',
  'tree -Io x PWNED',
  'tree -L2 x',
  'xxd -pl 5 PWNED',
  'xxd -ic 5 PWNED',
  'xxd -ag 5 PWNED',
  'xxd -pr x',
  'strings -e @x y',
  'strings -t @x y',
  // In BSD and BusyBox, brackets hide the mark that ends a pattern.
  'sed /[/s|]/w|x|p y',
  'sed /[/s/]/w/p y',
  'sed s/[/]/w/ y',
  'sed s|[|]|w| y',
  'sed s/[\\/]/w/ y',
  'sed s/[\\]/w/ y',
  'find . -delete',
  'find . -exec x ;',
  'find . -execdir x ;',
  'find . -ok x ;',
  'find . -fprint x',
  'find . -fprintf x y',
  'find . -fls x',
  'find -L .',
  'find . -follow',
  'find . -name',
  'find . x -files0-from y',
  'date -s x',
  'date 010101',
  'date --set=x',
  'date -f x',
  'file -f x',
  'file -C',
  'file -z x',
  'file -m x y',
  'stat -L x',
  'df --sync',
  'sha256sum -c x',
  'md5sum --check x',
  'sed -i 1p x',
  'sed s/a/b/e x',
  ...['1w', 's/a/b/w', '1e', '1r', 's/a/b/;w', 's/a\\/b/c/e', 'y/a/b/', '1,2!d', '$!N'].map((script) => `sed ${script} x`),
  'sed -e p -e w x',
  'sed p -i',
  'sed -f x',
  'xxd x y',
  'xxd -r x y',
  'base64 x y',
  'hostname x',
  'strings -n 4 @x',
  'sed -n 1w x',
  'sed -n 1p x -i',
  'jq -f x',
  'jq . -L x',
  'jq env',
  'jq input_filename',
  'jq import',
  'printf -v x y',
  'strings @x',
  'tac',
  'nosuch x',
])('%s may do more than read', (line) => {
  expect(read(line)).toBeNull();
});

test('knows git commands that only read', () => {
  const git = (line: string) => readGit(line.split(' '));
  expect(git('status -sb -- src')).toEqual({ family: ['git', 'status'], operands: ['src'], showsContent: false });
  expect(git('--no-pager log --oneline -5 HEAD~2 -- a')).toEqual({ family: ['git', 'log'], operands: ['HEAD~2', 'a'], showsContent: true });
  expect(git('show HEAD:.env')).toEqual({ family: ['git', 'show'], operands: ['HEAD:.env', '.env'], showsContent: true });
  expect(git('branch -a')).toEqual({ family: ['git', 'branch'], operands: [], showsContent: false });
  const refused = [
    '-c core.pager=x status',
    '-C x status',
    '-p status',
    '--git-dir=x status',
    '--exec-path=x status',
    'show --output=x',
    'diff --no-index a b',
  ];
  const more = [
    'diff --ext-diff',
    'log --textconv',
    'log --format=%G?',
    'branch x',
    'branch -D x',
    'branch -l x',
    'tag x',
    'tag -d x',
    'commit',
    'push',
    'status --outp',
    'log -O x',
    '',
  ];
  expect([...refused, ...more].filter((line) => git(line) !== null)).toEqual([]);
});
