// Command lines for testing the analysis: generated from the programs it knows and from ways in which lines were misread elsewhere, and by
// corrupting both.

import type { Random } from './random.ts';

const flags: Readonly<Record<string, string>> = {
  ls: '-l -a -la -R -L -H -1 --sort=size --sort -S --color=always --recursive --dereference -lR --hide=x -I x --time-style=+%s --zero -aL --ful',
  cat: '-n -A -b -s -v --number -u --show-all -nb --help --version',
  head: '-n 3 -n3 -3 -c 10 --lines=2 -q --bytes 4 -n -z -v --lines',
  tail: '-n 3 -n +2 -f -F --follow -3 -c 5 --lines=2 --pid=1 +2 --retry -nf',
  wc: '-l -w -c -m -L --lines --files0-from=one.txt --files0-from=- -lw --total=always',
  sort: '-n -r -u -k2 -k 2,3 -t , -o PWNED --output=PWNED -oPWNED -T . --compress-program=./evil.sh -S 1b -uo --files0-from=one.txt -c -m --random-source=.env --parallel=2 --key=1',
  uniq: '-c -d -i -u -f 1 -w3 --count --group=append',
  cut: '-d : -f1 -f 1 -c 1-3 --fields=2 -b1 --output-delimiter=x -s',
  nl: '-b a -ba -n ln -w 3',
  grep: '-n -r -R -rn -i -c -e x -f one.txt -f .env --file=../../outside/secret.txt -l -o -v -P -A 2 -2 --include=*.ts --exclude-dir=.git -d recurse --directories=recurse -D read -q -s -h --color=always -nR --dereference-recursive -z -a -w --exclude-from=.env',
  egrep: '-n -r -i -R -v',
  rg: '-f=.env -g=.env -n -i -l --files --hidden -u -uu -uuu --pre ./evil.sh --pre=./evil.sh -z --search-zip -L --follow -g .env -g * -t sh --no-ignore --ignore-file .env --hostname-bin=./evil.sh -c -A 1 -e x --json -. --type-list -f .env --sort path',
  find: '-name *.ts -type f -maxdepth 1 -maxdepth 0 -exec -execdir -delete -fprint PWNED -fprintf -fls -ls -print0 -printf %p -newer .env -follow -L -H -size +1 -mtime -1 ! -o -not -path ./src/* -ok -files0-from one.txt -empty -quit -prune -regex .* -samefile .env -lname x',
  stat: '-c %n -L -t --format=%s --printf=%n -f --dereference',
  file: '-b -i -f one.txt -m evil.sh -z --mime-type -C -L -k -p',
  du: '-a -h -s -sh -L -d 1 --max-depth=1 --files0-from=one.txt -X .env --exclude=x -c -D',
  df: '-h -T --sync --output=size -a',
  diff: '-u -r -q -l --to-file=.env --from-file=x -X .env -y -w -B --color=always -N -e -I x',
  cmp: '-s -l -b -n 3 -i 2',
  date: '-u -s 2020 --set=x -d now -f one.txt +%s --iso-8601 -R -r README.md 010101 --date=@1',
  realpath: '-e -m -s --relative-to=src',
  readlink: '-f -e -n',
  sha256sum: '-b -c one.txt --check --tag -z',
  md5sum: '-c one.txt -b',
  basename: '-a -s .ts',
  dirname: '-z',
  echo: '-n -e -E --help x $x',
  printf: '%s\\n %d -v x %(%Y)T %q %n',
  pwd: '-P -L -x',
  true: 'x --help',
  id: '-u -g -n',
  uname: '-a -s -r',
  which: '-a',
  tree: '-a -l -o PWNED -L 1 -R -H x',
  sed: '-n -i -e s/x/y/e 1p 1,3p 1w\u00a0PWNED --in-place -n1p s/x/touch\u00a0PWNED/e',
  jq: '. -r -c -f evil.sh --slurpfile x env .scripts -n input_filename -L . --arg x y import',
  git: 'status diff log show branch -c core.pager=./evil.sh -C evilrepo --short -s -sb -p --output=PWNED --ext-diff --textconv --oneline -5 --stat --no-index HEAD HEAD:.env HEAD~1 HEAD~2 HEAD~3 HEAD^^ main @ main..HEAD -1 -2 -n --all --cached --reverse --skip=1 -S -- blame rev-parse --exec-path=. --git-dir=evilrepo/.git --list --show-current ls-files --format=%G? --format=%h config --get user.name user.email --add --list for-each-ref --format=%(refname) --format=%+GS --format=%(signature) -- src README.md checkout reset --hard tag -l describe --all commit -D --paginate --no-pager -O evil.sh',
  npm: 'test run build --silent -s --node-options=--require=./evil.js --script-shell=./evil.sh -- install exec -g --prefix=evilrepo --if-present publish',
  make: 'all -f evil.sh SHELL=./evil.sh -n -C evilrepo -j 2 x',
  env: '-i -S touch\u00a0PWNED X=1 touch PWNED',
  xargs: '-0 touch PWNED',
  sh: '-c touch\u00a0PWNED evil.sh',
  busybox: 'sh -c touch\u00a0PWNED ls',
  tar: '-xf a.tar --to-command=./evil.sh -cf PWNED . -tf -tvf tf one.txt -t -f x:y --list -I ./evil.sh -T',
  tac: '-b -s x README.md',
  test: '-f -d -e -v -o -eq = != ! -a -nt src README.md x -t',
  gunzip: '-c -l -t -d README.gz -f',
  unzip: '-l -v -o -d x a.zip',
  iconv: '-f utf8 -t latin1 -o PWNED',
  tee: 'PWNED -a',
  touch: 'PWNED -c -r .env',
  mkdir: 'made -p made/a -m 777',
  cp: '-f -n -r -t made made made/ -s -l',
  mv: '-f -n -t made made made/',
  awk: 'BEGIN{system("touch\u00a0PWNED")} {print} {print>"PWNED"} {print$1} NR>1 /x/ -F: -v x=1 -f evil.sh -i inplace {getline<".env";print} {while((getline\u00a0l<".env")>0)print\u00a0l} /[/]/ END{print\u00a0NR}',
  nice: 'touch PWNED ls',
  timeout: '5 5s x touch PWNED ls cat -k README.md',
  printenv: 'PATH HOME X -0 LC_ALL',
};

const programs = Object.keys(flags);
const forms = [
  './ls',
  'bin/ls',
  './bin/ls',
  '/bin/ls',
  '/usr/bin/grep',
  'LS',
  'Git',
  'git.exe',
  './git',
  'evil.sh',
  '.',
  'command',
  'exec',
  'eval',
  'builtin',
  'time',
  '!',
  'if',
  '\\ls',
  'l"s"',
  "'ls'",
  'xtrue',
  'nosuch',
];

const operands = [
  'README.md',
  'src',
  'src/a.ts',
  'notes.txt',
  '.',
  './',
  'one.txt',
  'package.json',
  'my folder',
  'a;b',
  'missing',
  'src/../README.md',
  'sub',
  'deep',
  '-',
  '--',
  '',
  '.env',
  './.env',
  'src/../.env',
  'sub/.env',
  '.ssh',
  '.ssh/id_rsa',
  'link-out',
  'link-out/secret.txt',
  'link-secret',
  'src/link-up',
  'src/link-up/.env',
  'sub/link-env',
  'ENV~1',
  '.ENV',
  '.env/.',
  './/.env',
  'excepted',
  'excepted/.env',
  '..',
  '../..',
  '../../outside',
  '../../outside/secret.txt',
  '/etc/passwd',
  '/etc/shadow',
  '/proc/self/environ',
  '/dev/tcp/127.0.0.1/9',
  '~',
  '~/.ssh',
  '~root',
  '*',
  '*.md',
  '.*',
  '[.]env',
  '?env',
  '{.env,x}',
  '.git',
  '.git/config',
  'evilrepo',
  '@one.txt',
  '+2',
  'x=~',
  'HEAD',
  'HEAD:.env',
  'a..b',
  ':(top).env',
  ':/',
  'x:y',
  'TODO',
  'CANARY',
  'x',
  'name',
  '日本語',
  'foo bar',
  'a && b',
  '$(touch PWNED)',
  '`touch PWNED`',
  '> PWNED',
  '$HOME',
  '#',
  '-n',
  '-o',
  '--',
  '\\',
  '!',
  '!!',
  "it's",
  'say "x"',
  'a\\b',
  '$',
  'a$',
  '$x',
  '${x}',
  '%s',
  '\u202e',
  'x\u200by',
  'ｌｓ',
  'аbc',
];

const blanks = [' ', ' ', ' ', ' ', ' ', '  ', '\t', '\n', '\r', '\u00a0', '\u3000', '\v', ' \\\n', '${IFS}', ' '.repeat(40), '\u2028'];
const breaks = [
  ';',
  '&&',
  '||',
  '|',
  '&',
  '\n',
  '\r\n',
  '|&',
  ';;',
  '； ',
  '#',
  '>',
  '>>',
  '<',
  '2>&1 ',
  '<<<',
  '<<EOF\n',
  '>(',
  '<(',
  '$(',
  '`',
  '(',
  ')',
  '{',
  '}',
  '((',
  '[[',
  '&>',
  '>|',
  '\0',
  '\u0007',
  '\u001b[2K',
  '!',
  '\\',
  '$',
  '"',
  "'",
  '~',
  '*',
  '?',
  '=',
  ',',
  '\u200d',
  '\ufeff',
  '\u2066',
  '∶',
  'Ａ',
];
const payloads = ['touch PWNED', 'cat .env', 'cat ../../outside/secret.txt', './evil.sh', 'sh', 'X=1', 'true', 'EOF'];
const prefixes = [
  'PATH=./bin ',
  'GIT_PAGER=./evil.sh ',
  'A=1 B=2 ',
  'LD_PRELOAD=./x.so ',
  '! ',
  'time ',
  'exec ',
  'command ',
  'coproc ',
  '{ ',
  '( ',
  '$(true)',
  'sudo ',
  'env ',
  '@',
  '- ',
];

/** Generates one line. Most are nearly plain, because those could be allowed by mistake. */
export function makeLine(random: Random, corpus: readonly string[]): string {
  const line = around(random.chance(0.15) ? random.pick(corpus) : grammarLine(random), random);
  if (random.chance(0.55)) return line;
  let spoiled = line;
  for (let round = random.below(3); round >= 0; round--) spoiled = spoil(spoiled, random);
  return spoiled;
}

/** Sometimes wraps the line: in a folder that it enters first, or with a file as its input. */
function around(line: string, random: Random): string {
  if (random.chance(0.8)) return line;
  const place = quote(random.pick(operands), random);
  if (random.chance(0.4)) return overFiles(line, place, random);
  return random.chance(0.4)
    ? `${line} <${random.pick(['', ' '])}${place}`
    : `cd ${place}${random.pick([' && ', '; ', ' || ', ' | ', ' & ', '&&'])}${line}`;
}

/** Runs the line for files whose names it gets from elsewhere. */
function overFiles(line: string, place: string, random: Random): string {
  const found = `find ${place}${random.pick(['', ' -type f', " -name '*.ts'", ' -maxdepth 1', ' -not -type f', ' -o -type f', ' -path -name ! -type f', " \\( -name '*.ts' -o -name '*.txt' \\)", " \\( -name '*.ts' -o -type d \\)", " -not -name '*.js' -type f", ' ! \\( -type d \\)'])}`;
  const condition = `${random.pick(['[[ ', '[ ', 'test ', '[[ ! '])}${random.pick(['-f', '-d', '-e', '-v', '-n'])} ${place}${random.pick([' ]]', ' ]', ''])}`;
  const name = random.pick(['x', 'FILE', 'PATH', 'IFS', 'BASH_ENV', 'a[0]']);
  switch (random.below(14)) {
    case 0:
      return `for f in ${place} ${quote(random.pick(operands), random)}; do ${line} ${random.pick(['"$f"', '$f', '<$f', '${f%x}'])}; done`;
    case 1:
      return `${found} -exec ${line} ${random.pick(['{} +', '{} \\;', "{} ';'", 'x{} +', '{} + -delete'])}`;
    case 2:
      return `${found}${random.pick([' | xargs ', ' -print0 | xargs -0 ', ' | xargs -I% ', ' | xargs -n1 '])}${line}`;
    case 3:
      return `${line} ${random.pick(['$PWD', '"$PWD/.env"', '$HOME', '~', '"${HOME}"/outside', '$PWD/*'])}`;
    case 4:
      return `if ${condition}${random.pick(['; then ', '\nthen\n', ' && then '])}${line}${random.pick(['; fi', '; else pwd; fi', '\nfi > PWNED'])}`;
    case 5:
      return `${name}=${place}${random.pick(['; ', '\n', ' && ', ' ', ' || '])}${line} ${random.pick(['$x', '"$FILE"', '${x}', '$PATH'])}`;
    case 6:
      return `${random.pick(['# list\n', '', 'pwd # x\n'])}${line}${random.pick(['\n', ' # x', '#x', '\n\npwd', ' \\\n -l'])}`;
    case 7:
      return `${line} ${random.pick(['>', '>>', '2>', '>|', '&>', '| tee ', '| tee -a '])}${random.pick(['', ' '])}${random.chance(0.5) ? 'made' : place}`;
    case 8:
      return `${random.pick(['mkdir -p made', 'touch made', `mkdir ${place}`, `mv ${place} made`])}${random.pick([' && ', '; ', ' | ', '\n'])}${line}`;
    case 10:
      return `${line} ${random.pick([`$(${found})`, `\`${found}\``, `"$(${found})"`, `$(${found})x`, `-n $(${found} 2>/dev/null)`])}`;
    case 11:
      return `echo ${random.pick([`"x $(${line})"`, `$(${line}) y`, `"$(${line} | head -1)$(pwd)"`, `-n $(${line})`, `"$(${line}; ls)"`, `a '$(${line})'`])}`;
    case 12:
      return `${line} ${random.pick([`<<< ${place}`, `<<E\n${place}\nE`, `<<'E' | cat\n$x ${place}\nE`, `<<E > made\n${place}\nE`])}`;
    case 9:
      return `${line}${random.pick([' && ', '; ', ' | '])}${random.pick(['cp', 'mv', 'touch', 'mkdir', 'tee'])} ${place} ${quote(random.pick(operands), random)}`;
    default:
      return `${random.pick(['test', '['])} ${random.pick(['-f', '-d', '! -e', '-v', '-n'])} ${place}${random.pick([' ]', ''])} && ${line}`;
  }
}

function grammarLine(random: Random): string {
  const program = random.chance(0.94) ? random.pick(programs) : random.pick(forms);
  const own = (flags[program] ?? flags['ls'] ?? '').split(' ').map((flag) => flag.replaceAll('\u00a0', ' '));
  const words: string[] = [];
  for (let count = random.below(3); count > 0; count--) words.push(quote(random.pick(own), random));
  for (let count = random.below(4); count > 0; count--) {
    words.push(quote(random.chance(0.2) ? random.pick(own) : random.pick(operands), random));
  }
  if (random.chance(0.05)) words.push(quote(random.pick((flags[random.pick(programs)] ?? '').split(' ')), random));
  return [program, ...words].join(random.chance(0.97) ? ' ' : random.pick(blanks));
}

function quote(word: string, random: Random): string {
  const way = random.below(12);
  if (way < 6) return /^[\w./:=,@%+^-]+$/.test(word) || random.chance(0.15) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
  if (way < 8) return `'${word}'`;
  if (way < 10) return `"${random.chance(0.5) ? word.replace(/[\\"$`]/g, '\\$&') : word}"`;
  if (way === 10) return word.replace(/[^\w]/g, '\\$&');
  const cut = random.below(word.length + 1);
  return `${word.slice(0, cut)}${random.pick(['""', "''", '"', "'", "$''", '\\'])}${word.slice(cut)}`;
}

function spoil(line: string, random: Random): string {
  const at = random.below(line.length + 1);
  const insert = (text: string): string => line.slice(0, at) + text + line.slice(at);
  switch (random.below(8)) {
    case 0:
      return line + random.pick(['', ' ']) + random.pick(breaks) + random.pick(['', ' ']) + random.pick(payloads);
    case 1:
      return insert(random.pick(breaks));
    case 2:
      return line.replace(' ', random.pick(blanks));
    case 3:
      return random.pick(prefixes) + line;
    case 4:
      return insert(random.pick(operands));
    case 5:
      return line.slice(0, at) + line.slice(at + 1);
    case 6:
      return `${line} ${quote(random.pick(operands), random)}`;
    default:
      return insert(String.fromCodePoint(random.chance(0.7) ? random.below(0x100) : 0x100 + random.below(0xd000)));
  }
}

/** Every name for which the oracle needs a stub. */
export const stubNames: readonly string[] = [
  ...programs,
  ...'fgrep egrep sha1sum sha512sum md5sum cksum b2sum tr fold expand comm od hexdump rev column whoami nproc uptime false sudo'.split(' '),
  ...'nohup stdbuf bash pnpm yarn cargo go pytest python3 node rm curl base64 [ zcat gzip pwsh hash evil.sh'.split(' '),
];
