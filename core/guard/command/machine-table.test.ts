// Programs that show something of the machine or of a database: the forms that only do that, and near ones that do more.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readsOf } from '../../contracts/tools.ts';
import { commandBench } from '../../../tests/rigs/command-bench.ts';
import { needs } from '../../../tests/needs.ts';
import { readReader } from './read-command.ts';

const { workspace, look, dispose } = commandBench(/\/\.env$/);
const read = (line: string) => readReader(line.split(' ')[0] ?? '', line.split(' ').slice(1));

beforeAll(() => writeFileSync(join(workspace, 'a.txt'), 'a'));
afterAll(dispose);

const shown = [
  'ps',
  'ps aux',
  'ps -aux',
  'ps auxww',
  'ps -ef',
  'ps -ef --sort=-%cpu',
  'ps -e -o pid,cmd',
  'ps -eo pid,comm,%cpu --sort=-%cpu',
  'ps aux --sort -rss',
  'ps -p 1,2 -o pid,args',
  'ps -o pid= -p 1',
  'ps axo pid,ppid,cmd',
  'ps -A -f',
  'ss -tlnp',
  'ss -s',
  'netstat -tlnp',
  'lsof -nP -i :3000',
  'lsof -i :3000 -nP',
  'lsof -nP -iTCP:3000 -sTCP:LISTEN',
  'ip a',
  'ip -br addr',
  'ip addr show eth0',
  'ifconfig eth0',
  'pgrep -fl node',
  'pstree -p',
  'top -b -n 1',
  'top -bn1 -o %CPU',
  'vmstat 1 3',
  'who',
  'w',
  'mount',
  'findmnt',
  'timedatectl',
  'hostnamectl status',
  'xz -l a.xz',
  'objdump -d a',
  'dir',
];

test.each(shown)('%s only reads', (line) => {
  expect(read(line)).not.toBeNull();
});

test.each([
  'ps e',
  'ps auxe',
  'ps aux e',
  'ps -eaux',
  'ps -efx',
  'ps -ef x',
  'ps -ef -u e',
  'ps -E',
  'ps -o environ',
  'ps -eo pid,bogus',
  'ps -eo pid --sort=bogus',
  'ss -K',
  'ss -D x',
  'ss -F x',
  'ss -tr',
  'ss --res',
  'netstat -t',
  'netstat -a',
  'lsof',
  'lsof -n',
  'lsof -i :3000',
  'lsof -nP -i @x',
  'lsof -nP -i a',
  'ip link set eth0 down',
  'ip addr add x',
  'ip a s',
  'ip addr flush dev eth0',
  'ip -b x',
  'ip netns exec x ls',
  'ifconfig eth0 up',
  'pgrep --signal HUP x',
  'pgrep -F x',
  'top',
  'top -b',
  'vmstat 1',
  'who x',
  'mount a b',
  'timedatectl set-time x',
  'hostnamectl x',
  'sleep 1',
  'xz a',
  'xz -lk a',
  'objdump -S a',
])('%s may do more than show it', (line) => {
  expect(read(line)).toBeNull();
});

test('no list of programs that needs no approval shows an environment', needs('Linux'), () => {
  const child = spawn('sleep', ['30'], { env: { PATH: '/usr/bin:/bin', MARK: 'of-the-child' }, stdio: 'ignore' });
  const lists = shown.filter((line) => line.startsWith('ps'));
  try {
    const show = (line: string) => spawnSync('ps', line.split(' ').slice(1), { encoding: 'utf8' }).stdout;
    expect(show('ps axeww')).toContain('MARK=of-the-child');
    for (const line of lists) expect(show(line)).not.toContain('MARK=of-the-child');
  } finally {
    child.kill();
  }
});

const isFree = (line: string): boolean => {
  const { fact, paths } = look(line);
  return readsOf(fact) !== null && paths.every(({ insideWorkspace, protectedBy }) => insideWorkspace && protectedBy === null);
};

test.each(['cat /etc/os-release', 'grep -c processor /proc/cpuinfo', 'head -3 /proc/meminfo'])(
  '%s tells about the machine',
  needs('Linux'),
  (line) => {
    expect(isFree(line)).toBe(true);
  },
);

test.each(['cat /proc/self/environ', 'cat /etc/os-release /etc/passwd', 'cat /proc/1/cmdline', 'cat /etc/../etc/passwd'])(
  '%s is outside the workspace',
  needs('Linux'),
  (line) => {
    expect(isFree(line)).toBe(false);
  },
);

test.each([
  "sqlite3 -readonly a.db 'select 1'",
  'sqlite3 -readonly -header -separator , a.db "select * from t where a = \'x\' limit 3;"',
  'sqlite3 -readonly a.db .tables',
  "sqlite3 -readonly a.db '.schema t' | head",
  "sqlite3 -readonly a.db 'pragma table_info(t)'",
])('%s only reads the database', needs('sqlite3'), (line) => {
  expect(isFree(line)).toBe(true);
});

test.each([
  "sqlite3 a.db 'select 1'",
  'sqlite3 -readonly a.db',
  "sqlite3 -readonly a.db 'attach x as y'",
  "sqlite3 -readonly a.db '.shell ls'",
  "sqlite3 -readonly a.db .tables '.shell ls'",
  "sqlite3 -readonly a.db 'select 1; vacuum into x'",
  "sqlite3 -readonly -cmd '.shell ls' a.db 'select 1'",
  "sqlite3 -readonly -init a.txt a.db 'select 1'",
  "sqlite3 -safe -readonly a.db 'select 1'",
  "sqlite3 -readonly -init /dev/null a.db 'select 1' x",
  "sqlite3 -readonly file:a.db 'select 1'",
  "sqlite3 -readonly ../a.db 'select 1'",
  "sqlite3 -readonly .env 'select 1'",
  "sqlite3 -readonly -- a.db 'select 1'",
  "find . -name '*.db' -exec sqlite3 -readonly {} 'select 1' \\;",
  'echo .tables | sqlite3 -readonly a.db',
])('%s may do more', needs('sqlite3'), (line) => {
  expect(isFree(line)).toBe(false);
});

test('a query runs in the form in which no view can start a program', needs('sqlite3'), () => {
  execFileSync(
    'sqlite3',
    ['a.db', "create table t(a); insert into t values(1); create view v as select edit('x', 'touch made; true') from t"],
    {
      cwd: workspace,
    },
  );
  const { launch, fact } = look("sqlite3 -readonly a.db 'select * from v'");
  expect(readReader('sqlite3', ['-readonly', '-init', '/dev/null', 'a.db', 'select 1'])).toBeNull();
  expect(fact.line).toBe("sqlite3 -readonly a.db 'select * from v'");
  if (launch.kind !== 'plain') throw new Error('expected one program');
  expect(() => execFileSync(launch.file, launch.argv.slice(1), { cwd: workspace, stdio: 'pipe' })).toThrow('safe mode');
});
