import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readsOf } from '../../contracts/tools.ts';
import { needs } from '../../../tests/needs.ts';
import { commandBench } from '../../../tests/rigs/command-bench.ts';
import { rewriteLine } from './rewritten-line.ts';

const { root, workspace, look, environment, dispose } = commandBench(/(?:^|\/)\.(?:env|ssh|git\/config)(?:\/|$)/);
const rewritten = (line: string) => rewriteLine(line, { cwd: workspace, environment: { HOME: root, PATH: '/usr/bin:/bin' } });
const isFree = (line: string, path?: string): boolean => {
  const { fact, paths } = look(line, path);
  return readsOf(fact) !== null && paths.every(({ insideWorkspace, protectedBy }) => insideWorkspace && protectedBy === null);
};

beforeAll(() => {
  for (const folder of ['src', 'links', 'keys', 'tools', 'odd', '.git']) mkdirSync(join(workspace, folder));
  for (const name of ['a.ts', 'b.ts', 'src/a.ts', 'src/c d.ts', 'links/x.ts', 'keys/.env', 'odd/-o PWNED.ts', '.git/config']) {
    writeFileSync(join(workspace, name), 'x');
  }
  writeFileSync(join(root, 'secret'), 'x');
  symlinkSync('../../secret', join(workspace, 'links', 'y.ts'));
  writeFileSync(join(workspace, 'tools', 'wc'), '#!/bin/sh\n', { mode: 0o755 });
});
afterAll(dispose);

test('the top of a work tree is known, without git', () => {
  expect(rewritten('ls $(git rev-parse --show-toplevel)/src')).toBe(`ls '${workspace}/src'`);
  expect(isFree('wc -l "$(git rev-parse --show-toplevel)/a.ts"')).toBe(true);
  expect(isFree('cat "$(git rev-parse --show-toplevel)/keys/.env"')).toBe(false);
  expect(rewritten('cd src && ls $(git rev-parse --show-toplevel)')).toBeNull();
  expect(rewritten('ls $(git -C src rev-parse --show-toplevel)')).toBeNull();
});

const rewrites: readonly (readonly [line: string, written: () => string | null])[] = [
  ['ls $PWD', () => `ls '${workspace}'`],
  ['ls "$PWD/src" ${PWD}', () => `ls '${workspace}/src' '${workspace}'`],
  ['ls ~ ~/x', () => `ls '${root}' '${root}/x'`],
  ['echo "$HOME" && ls $HOME', () => `echo '${root}' && ls '${root}'`],
  ['for f in *.ts; do wc -l "$f"; done', () => `wc -l 'a.ts'; wc -l 'b.ts'`],
  [
    'for f in a "b c"; do echo "== $f"; cat "$f" 2>/dev/null; done',
    () => `echo '== a'; cat 'a' 2>/dev/null; echo '== b c'; cat 'b c' 2>/dev/null`,
  ],
  ['for f in src; do ls $f/*.ts | head -1; done; ls', () => 'ls src/*.ts | head -1; ls'],
  ['for f in a; do for g in b; do echo $f$g; done; done', () => "echo 'ab'"],
  ["find src -name '*.ts' | xargs wc -l", () => "find src -name '*.ts' -exec wc -l {} +"],
  ['find src -print0 | xargs -0 -r grep -n x | head', () => 'find src -exec grep -n x {} + | head'],
  ['find src 2>/dev/null | xargs -n1 basename', () => "find src -exec basename {} ';' 2>/dev/null"],
  ['find src | xargs -I% cat %', () => "find src -exec cat {} ';'"],
  ['command -v node', () => 'which node'],
  ['find src -type f | while read -r f; do wc -l "$f"; done', () => "find src -type f -exec wc -l {} ';'"],
  ['find src -type f | while IFS= read -r f; do head -1 "${f}"; done | sort', () => "find src -type f -exec head -1 {} ';' | sort"],
  ['set -e\nls src\nwc -l a.ts', () => 'ls src && wc -l a.ts'],
  ['set -eu; ls x; ls', () => 'ls x && ls'],
  ['set -euo pipefail\nfor f in a.ts x b.ts; do wc -l "$f"; done\nls', () => "wc -l 'a.ts' && wc -l 'x' && wc -l 'b.ts' && ls"],
  ['ls $(pwd)/src "$(pwd)" `pwd`', () => `ls '${workspace}/src' '${workspace}' '${workspace}'`],
  ['cat src/{a,b}/*.ts', () => 'cat src/a/*.ts src/b/*.ts'],
  ['LC_ALL=C sort a | TZ=UTC cat', () => 'env LC_ALL=C sort a | env TZ=UTC cat'],
  ['GIT_PAGER=cat git log', () => 'git log'],
  ['x=src/a.ts; cat "$(dirname $x)/c d.ts" $(basename "$x")', () => "cat 'src/c d.ts' 'a.ts'"],
  ['(cd src && ls)', () => 'cd src && ls'],
  ['cat -n $(find src -name a.ts 2>/dev/null) | head', () => 'find src -name a.ts -exec cat -n {} + 2>/dev/null | head'],
  [
    'x=1; ls && echo "a $(ls | wc -l) $x"',
    () => `ls && printf %s 'a ' && ls | wc -l | awk '{printf "%s%s", s, $0; s = RS}' && printf %s ' 1' && echo`,
  ],
  ['echo $(ls)', () => `ls | awk '{$1 = $1; printf "%s%s", s, $0; s = OFS}' && echo`],
  ["cat <<'E' 2>&1 | wc\na $x\nb'\nE", () => null],
  ["cat <<'E' 2>&1 | wc\na \nb'\nE", () => `printf '%s\\n' 'a ' 'b'\\''' | cat 2>&1 | wc`],
  ["jq . <<< '{}'", () => `printf '%s\\n' '{}' | jq .`],
  ['type -a ls', () => 'which -a ls'],
  ['ls\n', () => 'ls'],
  ['# names\nls src  # here\n\nwc -l a.ts', () => 'ls src; wc -l a.ts'],
  ['cat a.ts |\n  head -2 &&\n  ls', () => 'cat a.ts | head -2 && ls'],
  ['x=src/a.ts; cat $x "$x"', () => "cat 'src/a.ts' 'src/a.ts'"],
  ['N=2 && head -$N a.ts', () => "head '-2' a.ts"],
  ['x="a  b" y=~/c; echo "$x" $y', () => `echo 'a  b' '${root}/c'`],
  ['for f in a.ts b.ts; do n=$f; done; cat $n $f', () => `cat 'b.ts' 'b.ts'`],
  ['[[ -f a.ts && -d src ]] && ls', () => null],
  ['[[ -f a.ts ]] && cat a.ts', () => "[ -f 'a.ts' ] && cat a.ts"],
  ['[[ $PWD != "x y" ]] || ls', () => `[ '${workspace}' != 'x y' ] || ls`],
  ['[[ ! -e x ]] && ls', () => "[ ! -e 'x' ] && ls"],
  ['[[ a == a* ]] && ls', () => null],
  ['[[ a =~ a ]] && ls', () => null],
  ['if [ -f a.ts ]; then cat a.ts; fi', () => '[ -f a.ts ]; cat a.ts'],
  ['if [ -f x ]; then cat x; fi', () => '[ -f x ] || true'],
  ['if [[ -d x ]]\nthen ls x\nelif test -d src; then ls src; head a.ts; else ls; fi', () => "[ -d 'x' ]; test -d src; ls src; head a.ts"],
  ['if [ ! -s a.ts ]; then echo empty; else echo full; fi', () => '[ ! -s a.ts ]; echo full'],
  ['for f in a.ts x; do if [ -e "$f" ]; then wc -l "$f"; fi; done', () => `[ -e 'a.ts' ]; wc -l 'a.ts'; [ -e 'x' ] || true`],
];

test.each(rewrites)('%s is rewritten in literal words', (line, written) => {
  expect(rewritten(line)).toBe(written());
});

// xargs splits names at blanks, and `command -v` and `type` also know the shell's own commands.
const isExact = (line: string): boolean => !/xargs|command -v|^type/.test(line);

test('bash prints the same for a rewritten line, and ends in the same way', needs('a Unix system'), () => {
  const env = { HOME: root, PATH: '/usr/bin:/bin', LC_ALL: 'C' };
  const run = (line: string): unknown => {
    const { stdout, status } = spawnSync('/bin/bash', ['--noprofile', '--norc', '-c', line], { cwd: workspace, env, encoding: 'utf8' });
    return { line, stdout, status };
  };
  const pairs = rewrites
    .flatMap(([line, written]) => [[line, written()] as const])
    .filter(([line, written]) => written !== null && isExact(line));
  expect(pairs.length).toBeGreaterThan(20);
  expect(pairs.map(([line, written]) => ({ ...(run(written ?? '') as object), line }))).toEqual(pairs.map(([line]) => run(line)));
});

test.each([
  'ls',
  'ls $OLDPWD',
  'ls $RANDOM',
  'ls $1 $@',
  'ls ~root',
  'ls ${HOME%/*}',
  'ls ${x:-y}',
  'ls ${!HOME}',
  'ls $(ls)',
  'ls `ls`',
  'ls $(pwd -P)',
  'ls $(pwd; rm a.ts)',
  'ls "$(pwd > x)"',
  'ls $(X=1 pwd)',
  'ls $(pwd &)',
  'ls $(basename "a b")',
  'ls $(basename *.ts)',
  'ls $(basename -a x)',
  'ls $(basename src/)',
  'ls $(dirname $(ls))',
  '(cd src && ls $(pwd))',
  '(cd src && ls $PWD)',
  'pushd src; ls $PWD',
  '$(pwd)/tool',
  'PATH=$(pwd); wc a.ts',
  'set -e; ls || ls',
  'set -e; if [ -f a.ts ]; then ls; fi',
  'set -euo pipefail; ls | head',
  'set -e > x; ls',
  'X=1 set -e; ls',
  'set -e & ls',
  'set -- $HOME; ls',
  'set +e; ls $HOME',
  'set -x; ls $HOME',
  'ls; set -e; ls $HOME',
  'find src | while read f; do cat "$f"; ls; done',
  'find src | while read f; do $f; done',
  'find src | while read f; do cat "$f$f"; done',
  'find src | while read f; do cat "$f" "$f"; done',
  'find src | while read f; do cat "$f" "$f.bak"; done',
  'find src | while read f; do cat "$g" "$f"; done',
  'find src | while read f; do cat < "$f"; done',
  'find src | while read f; do X=1 cat "$f"; done',
  'find src | while read f; do cat "$f" & done',
  'find src | while read f; do cat $f; done',
  'find src | while read f; do cat "$f"; done > x',
  'find src | while read f g; do cat "$f"; done',
  'find src | while read -d "" f; do cat "$f"; done',
  'find src | while read -u 3 f; do cat "$f"; done',
  'find src | while read f < a.ts; do cat "$f"; done',
  'find src | while IFS=/ read f; do cat "$f"; done',
  'find src | while read PATH; do cat "$PATH"; done',
  'find src | while true; do cat "$f"; done',
  'find src | until read f; do cat "$f"; done',
  'find src -print0 | while read f; do cat "$f"; done',
  'ls | while read f; do cat "$f"; done',
  'while read f; do cat "$f"; done < a.ts',
  'echo $((1))',
  'cat < $PWD/"a b"',
  '$HOME/tool',
  '"$PWD"/tool x',
  'X=$HOME ls',
  'for f in a; do $f; done',
  'for f in $(ls); do cat $f; done',
  'for f in "a b"; do cat $f; done',
  'for f in "*"; do cat $f; done',
  'for f; do ls; done',
  'for PATH in a; do ls; done',
  'for f in a; do ls; done | sh',
  'for f in a; do ls; done > x',
  'for f in a; do ls & done',
  'for f in a; do ls; done && ls',
  'while true; do echo $HOME; done',
  'if ls; then echo $HOME; fi',
  'if [ -f a.ts ] && [ -d src ]; then ls; fi',
  'if [ -f a.ts ] > x; then ls; fi',
  'if [ -f a.ts ]; then ls; fi > x',
  'if [ -f $x ]; then ls; fi',
  'if [ -x a.ts ]; then ls; fi',
  'if [[ -v x[$(rm)] ]]; then ls; fi',
  'x=$(ls); echo "$x"',
  'echo -n "$(ls)"',
  'ls || echo "$(ls)"',
  'echo "$(ls; ls)"',
  'echo "$(ls && ls)"',
  'echo "$(ls &)"',
  'echo "$(ls)$?"',
  'echo "$(ls)" | wc',
  'echo "$(ls)" > x',
  'X=1 echo "$(ls)"',
  'cat $(find src; echo a)',
  'cat $(find src)x',
  'cat "$(find src)"',
  'cat $(find src) a.ts',
  'cat $(ls)',
  'cat <<E > x\na\nE',
  'cat 3<<E\na\nE',
  'cat <<-E\n\ta\nE',
  'cat < a.ts <<E\na\nE',
  'cat <<E 2> x\na\nE',
  'cat <<< $(ls)',
  'x=a; x+=b; echo $x',
  'x[0]=a; echo $x',
  'x=(a b); echo $x',
  'x="a b"; cat $x',
  'x=a || cat $x',
  'ls && x=a; echo $x',
  'x=a | cat; echo $x',
  'x=a > b; echo $x',
  'PATH=tools; wc a.ts',
  'IFS=,; ls $PWD',
  'BASH_ENV=x; ls',
  'HOME=/; ls ~',
  'PWD=/; ls $PWD',
  'x=sh; $x a.ts',
  'x=rm\n$x a.ts',
  '(ls $HOME); ls',
  'ls $HOME |& cat',
  '! ls $HOME',
  'find src -print0 | xargs wc',
  'find src | xargs -0 wc',
  'find src | xargs -a x cat',
  'find src | xargs --process-slot-var=X cat',
  `for f in ${'a '.repeat(70)}; do ls; done`,
])('%s is left as it is', (line) => {
  const left = rewritten(line);
  // A pipe that is no longer written as one is refused by the analysis.
  expect(left === null || left.includes('xargs')).toBe(true);
  expect(line === 'ls' || !isFree(line)).toBe(true);
});

test.each([
  'cat $PWD/a.ts',
  'for f in *.ts; do wc -l "$f"; done',
  'find src -type f | xargs wc -l',
  'find src | xargs',
  'find src -type f | while read f; do wc -l "$f"; done',
  'set -e\ncat a.ts\nls',
  'ls $(pwd)/src',
  "find src -name '*.ts' -exec head -5 {} +",
  'cat $(find src -name "*.ts") | head',
  'wc -l `find src -type f`',
  'echo "Files: $(ls | wc -l)"',
  'for d in src; do echo "$d: $(ls $d | wc -l) $(date)"; done; ls',
  "cat <<EOF | wc -l\na b\n  it's\nEOF",
  'grep -n x <<< "x y"',
  'cat a.ts < /dev/null',
  'timeout 5 cat a.ts',
  'nice cat a.ts',
  'nice -n 10 grep a a.ts | head',
  'timeout 5 nice --adjustment=5 cat a.ts',
  'LC_ALL=C sort a.ts',
  'ls src | LC_ALL=C sort | head',
  'TZ=Europe/Berlin date +%H',
  'env LANG=en_US.UTF-8 ls',
  'cat {a,b}.ts',
  'wc -l {src,odd}/*.ts',
  'for f in {a,b}.ts; do wc -l $f; done',
  'for i in {1..3}; do echo $i; done',
  'cd src && ls && cd ..',
  'type -a ls',
  'printenv PATH LC_ALL',
  'find . -maxdepth 1 -type f -exec wc -l {} +',
  "find . -name '*.ts' -type f -exec grep -l x {} +",
  "find . -name '*.ts' -type f -not -path './keys/*' -exec cat {} +",
  "find . -type f ! -name '*.d.ts' \\( -name '*.ts' -o -name '*.js' \\) -exec cat {} +",
  "find . -type f -name '*.ts' \\( -path './src/*' -o -path './odd/*' \\) -exec cat {} +",
  '[ -f a.ts ] && cat a.ts',
  'test -d src && ls src',
  'ls\n',
  '# look\nls\ncat a.ts',
  'cat a.ts | \\\n  head -1',
  'if [ -f a.ts ]; then cat a.ts; else ls; fi',
  'for f in *.ts; do\n  if [[ -s $f ]]; then\n    head -1 "$f"\n  fi\ndone',
  'FILE=a.ts\nhead -1 "$FILE"',
])('%s needs no approval', (line) => {
  expect(isFree(line)).toBe(true);
});

test.each([
  ['a secret', 'for f in keys/.env; do cat "$f"; done'],
  ['a place outside', 'ls $HOME'],
  ['a place outside', 'cat "$PWD/../secret"'],
  ['a place outside', 'cat ~/secret'],
  ['a found secret', 'find keys -type f -exec cat {} +'],
  ['a found secret', 'find keys | xargs cat'],
  ['a found secret', 'find keys | while read f; do cat "$f"; done'],
  ['a link out', 'find links | while read f; do cat "$f"; done'],
  ['a file that is written', 'find src | while read f; do sort -o "$f" a.ts; done'],
  ['a file that is written', 'find src | while read f; do sed -i s/a/b/ "$f"; done'],
  ['a program that is run', 'find src | while read f; do sh "$f"; done'],
  ['a program that is run', 'find src | while read f; do eval "$f"; done'],
  ['a place outside', 'cat $(dirname "$PWD")/secret'],
  ['a secret', 'cat $(pwd)/keys/.env'],
  ['a secret', 'set -e; cat keys/.env'],
  ['settings of git', 'find . -type f -exec cat {} +'],
  ['a link out', 'find links -exec cat {} +'],
  ['a link out', "find links -name '*.ts' -exec cat {} +"],
  ['a link out', 'find links -path -name ! -type f -exec cat {} +'],
  ['a link out', "find links -type f -o -name '*.ts' -exec cat {} +"],
  ['a link out', 'find links -not -type f -exec cat {} +'],
  ['a link out', "find links \\( -type f -o -name '*.ts' \\) -exec cat {} +"],
  ['a link out', 'find links -not \\( -type f \\) -exec cat {} +'],
  ['a link out', "find links \\( -name '*.js' -o -name '*' \\) -exec cat {} +"],
  ['a link out', "find links -not \\( -name '*.js' -o -name '*.md' \\) -exec cat {} +"],
  ['a link out', "find links \\( -name '*.js' , -name '*.md' \\) -exec cat {} +"],
  ['a link out', "find links \\( -name '*.js' -o -path '*.ts' \\) -exec cat {} +"],
  ['a link out', "find links \\( \\( -name '*.js' \\) -o -name '*.ts' \\) -exec cat {} +"],
  ['a link out', "find links -not -name '*.js' -exec cat {} +"],
  ['a found secret', "find keys \\( -name '*.js' -o -name '*.env' \\) -exec cat {} +"],
  ['a link out', 'find links -exec cat {} + -type f'],
  ['a file that is written', 'for f in x; do sort -o $f a.ts; done'],
  ['a program that is run', 'for f in sh; do $f a.ts; done'],
  ['a program that is run', 'find src | xargs sh'],
  ['a file that is written', 'find src | xargs sort -o x'],
  ['a secret', 'x=keys/.env; cat $x'],
  ['a secret', 'echo "$(cat keys/.env)"'],
  ['a secret', 'echo a $(cat src/a.ts) "$(ls | xargs cat keys/.env)"'],
  ['a found secret', 'cat $(find keys -type f)'],
  ['a link out', 'cat $(find links)'],
  ['a file that is written', 'echo "$(sort -o a.ts b.ts)"'],
  ['a file that is written', 'sort -o $(find src)'],
  ['a program that is run', 'echo "$(sh a.ts)"'],
  ['a program that is run', 'sh $(find src)'],
  ['a program that is run', 'sh <<EOF\nrm a.ts\nEOF'],
  ['a program that is run', 'cat <<< rm | sh'],
  ['a program that is run', 'timeout 5 sh a.ts'],
  ['a program that is run', 'nice sh a.ts'],
  ['a program that is run', 'nice -n 10 nice sh a.ts'],
  ['a program that is run', 'nice -n 5 -n 5 cat a.ts'],
  ['a program that is run', 'nice awk BEGIN{system(1)} a.ts'],
  ['a secret', 'nice -n 10 cat keys/.env'],
  ['a program that is run', 'timeout 5 timeout 5 sh a.ts'],
  ['a program that is run', 'timeout -s KILL 5 ./a.ts'],
  ['a secret', 'timeout 5 cat keys/.env'],
  ['a secret', 'LC_ALL=C cat keys/.env'],
  ['a secret', 'cat keys/.e{nv,x}'],
  ['a file of the time zone', 'TZ=../../secret date'],
  ['a file of the time zone', 'TZ=/etc/passwd date'],
  ['a library', 'LD_PRELOAD=./a.ts ls'],
  ['a library', 'LC_ALL=C LD_PRELOAD=./a.ts ls'],
  ['a program that is run', 'GIT_PAGER=./a.ts git log'],
  ['a program that is run', 'LC_ALL=C sh a.ts'],
  ['a program that is run', 'env LC_ALL=C sh a.ts'],
  ['a program that is run', 'env LC_ALL=C env sh a.ts'],
  ['a program that is run', "env -S 'sh a.ts'"],
  ['a variable', 'env LC_ALL=C'],
  ['a file that is written', 'sort {-o,x} a.ts'],
  ['a place outside', 'ls {..,src}/..'],
  ['a command', 'cat {a.ts,$(sh a.ts)}'],
  ['a file that is written', 'cd src && sort -o a.ts b.ts && cd ..'],
  ['a command', 'cd src && ls && cd $(sh a.ts)'],
  ['a second folder', 'cd src && ls && cd .. && cat keys/.env'],
  ['the settings of a repository', 'cat $(git rev-parse --git-dir)/config'],
  ['a secret', 'cat < keys/.env <<< x'],
  ['a variable', 'printenv'],
  ['a variable', 'printenv AWS_SECRET_ACCESS_KEY'],
  ['a secret', 'if [ -f keys/.env ]; then cat keys/.env; fi'],
  ['a place outside', 'if [ -f ../../secret ]; then echo yes; fi'],
  ['a place outside', 'ls\ncat ../../secret'],
])('%s needs approval: %s', (_what, line) => {
  expect(isFree(line)).toBe(false);
});

test('a program that find starts must be the known one', () => {
  const path = `${join(workspace, 'tools')}:${environment.PATH}`;
  const line = 'find src -type f -exec wc -l {} +';
  expect([isFree(line), isFree(line, path), isFree('find src -type f -exec nosuch {} +')]).toEqual([true, false, false]);
  expect([isFree('timeout 5 wc a.ts'), isFree('timeout 5 wc a.ts', path)]).toEqual([true, false]);
});

test.each([
  'if [ -f a.ts ]; then rm a.ts; fi',
  'ls\nrm a.ts',
  'x=a.ts; rm $x',
  'for f in a.ts; do rm "$f"; done',
  'rm $PWD/a.ts',
  'rm $(pwd)/a.ts',
  'set -e; rm a.ts',
  'find src | while read f; do rm "$f"; done',
  '(cd src && rm a.ts)',
])('%s is shown and run as it was written, because it does more than read', (line) => {
  expect(look(line)).toMatchObject({ fact: { line, unclear: expect.any(String) }, launch: { kind: 'line', line } });
});
