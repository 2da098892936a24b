import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { awkFiles } from './awk-program.ts';

const reads = (...words: string[]) => awkFiles(words);

test.each([
  '{print $1}',
  '{ print $NF, $(NF-1) }',
  'NR>1',
  'NR==1,/^end$/',
  '/[0-9]+\\/x/ && $2 != "" {print NR ": " $0}',
  '$3 > 100 { n++ } END { print n/2 }',
  '{count[$1]++} END {for (k in count) if (count[k] > 1) print k, count[k]}',
  'BEGIN { FS = ":"; OFS = "\\t" } $1 ~ /^a|b$/ { printf "%s\\n", toupper(substr($2, 1, 3)) }',
  'length > 80',
  '!seen[$0]++',
  'NR==FNR{a[$1];next} $1 in a',
  '{ s = s (s == "" ? "" : ",") $1 }\nEND { print s }',
])('%s only prints', (program) => {
  expect(reads(program, 'a.txt', 'b.txt')).toEqual(['a.txt', 'b.txt']);
});

test('knows field and variable flags, and reads the words after the program as files', () => {
  expect(reads('-F:', '-v', 'min=3', '-F', ',', '$1 > min', 'x')).toEqual(['x']);
  expect(reads('{print}')).toEqual([]);
  for (const words of [
    [],
    ['-F'],
    ['-v', '-f', '{print}'],
    ['-f', 'x'],
    ['{print}', '-f', 'x'],
    ['-i', 'inplace', '{print}'],
    ['--version'],
  ])
    expect(awkFiles(words)).toBeNull();
});

const dangerous = [
  'BEGIN{x = 0x1system ("touch PWNED")}',
  'BEGIN{x = 1esystem ("touch PWNED")}',
  'BEGIN{x = .5esystem ("touch PWNED")}',
  'BEGIN{y = 0x1getline l < ".env"; print l}',
  'BEGIN{extension ("./pwned.so", "load")}',
  'BEGIN{system("touch PWNED")}',
  '{print > "PWNED"}',
  '{print >> "PWNED"}',
  '{print | "sh"}',
  '{print |& "sh"}',
  '{"date" | getline x; print x}',
  'BEGIN{while ((getline l < ".env") > 0) print l}',
  'BEGIN{ARGV[1]=".env"}',
  'BEGIN{print ENVIRON["KEY"]}',
  '{printf("%s", $1) > "PWNED"}',
  'BEGIN{for (print "x" > "PWNED"; 0;) x}',
  'BEGIN{for (printf("x") > "PWNED"; 0;) x}',
  'BEGIN{if (1) print "x" > "PWNED"}',
  'BEGIN{print a["x"] > "PWNED"}',
  'BEGIN{x = 4 / 2; print x > "PWNED" / 1}',
  'BEGIN{a = 1 /system("touch PWNED")/ 1}',
  'BEGIN{a = (1) /system("touch PWNED")/ 1}',
  'BEGIN{a++ /system("touch PWNED")/ 1}',
  '/[/]/ {system("touch PWNED")} /x/',
  'BEGIN{f = "system"; @f("touch PWNED")}',
  '@load "filefuncs"',
  'function f() { system("touch PWNED") } BEGIN { f() }',
  'BEGIN{awk::system("touch PWNED")}',
  'BEGIN{sys\\\ntem("touch PWNED")}',
  'BEGIN{print "a" # "\n > "PWNED" }',
  'BEGIN{close("x")}',
  'BEGIN{x = length / " /; print > "PWNED"; y = "/ 1}',
  'BEGIN{x\n/ " /; print > "PWNED"; y = "/ 1}',
  'BEGIN{x; / " /; print > "PWNED"; y = "/ 1}',
  '{print $1',
  "BEGIN{print 'x'}",
];

test.each(dangerous)('%s may do more than print', (program) => {
  expect(reads(program)).toBeNull();
});

/** Builds programs from random pieces and runs those that count as harmless with the real awk. None may write a file. */
test('awk writes no file with any program that counts as printing', () => {
  const pieces =
    'BEGIN,{,},(,),[,],;,\n,print,printf,for,if,a,$1,1,"W1",/x/,/[/],/,>,>>,>=,<,|,||,&&,!,~,++,-,=,?,:,\\,,in,length,getline,system,@,#'
      .split(/(?<!\\),/)
      .map((piece) => (piece === '\\,' ? ',' : piece));
  let seed = 7;
  const below = (max: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * max);
  };
  const heads = ['BEGIN{print ', 'BEGIN{', '{print ', '{printf "%s",', 'BEGIN{for(', '/x/{print ', 'BEGIN{if(', ''];
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-awk-'));
  try {
    writeFileSync(join(folder, 'in'), 'x y\n');
    let taken = 0;
    for (let round = 0; round < 60_000 && taken < 150; round += 1) {
      const middle = Array.from({ length: 1 + below(5) }, () => pieces[below(pieces.length)] ?? '').join(below(2) === 0 ? ' ' : '');
      const program = `${heads[below(heads.length)]}${middle} > "W2"${['}', ')}', ';0;) x}', ')a}', ''][below(5)]}`;
      if (reads(program, 'in') === null) continue;
      taken += 1;
      runAwk(program, folder);
      expect([program, readdirSync(folder)]).toEqual([program, ['in']]);
    }
    expect(taken).toBe(150);
    runAwk('{print > "W1"}', folder);
    expect(readdirSync(folder), 'the folder shows what is written').toContain('W1');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function runAwk(program: string, cwd: string): void {
  try {
    execFileSync('awk', [program, 'in'], { cwd, stdio: 'ignore', timeout: 1_000 });
  } catch {
    // Most of these programs are invalid, and some never end.
  }
}
