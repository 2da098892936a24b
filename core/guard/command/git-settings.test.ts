import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { configProblem } from '../../base/git-settings.ts';
import { readIndex } from './git-index.ts';
import { lookAtRepository, quietGit } from './git-repository.ts';

let root = '';
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-git-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const environment = (): Record<string, string> => ({ PATH: process.env['PATH'] ?? '', HOME: root, GIT_CONFIG_NOSYSTEM: '1' });
function git(folder: string, ...args: string[]): string {
  const own = ['-c', 'user.name=x', '-c', 'user.email=x@x', '-c', 'protocol.file.allow=always', '-c', 'init.defaultBranch=main'];
  return execFileSync('git', [...own, ...args], { cwd: folder, env: environment(), encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
function repository(path: string): string {
  const folder = join(root, path);
  mkdirSync(join(folder, 'src'), { recursive: true });
  git(folder, 'init', '-q');
  writeFileSync(join(folder, 'a.txt'), 'a\n');
  writeFileSync(join(folder, 'src', 'b.txt'), 'b\n');
  git(folder, 'add', '.');
  git(folder, 'commit', '-qm', 'first');
  return folder;
}
const problemIn = (folder: string): string | null => lookAtRepository(folder, [root]).problem;

test.each([
  ['[core]\n\tbare = false\n[remote "a b"]\n url = https://x/y\n[branch "m"] merge = x ; y', null],
  ['[core]\n\tfsmonitor = x', 'core.fsmonitor'],
  ['[CORE] FSMonitor', 'core.fsmonitor'],
  ['[core]\nworktree = ../sub', null],
  ['[core]\nworktree = /', 'core.worktree'],
  ['[core]\nbare = true', 'core.bare'],
  ['[filter "x"]\nclean = y', 'filter.x.clean'],
  ['[diff "x"]\ntextconv = y', 'diff.x.textconv'],
  ['[include]\npath = x', 'include.path'],
  ['[includeIf "gitdir:x"]\npath = x', 'includeif.gitdir:x.path'],
  ['[alias]\nst = !x', 'alias.st'],
  ['[remote "x"]\nurl = ext::sh', 'remote.x.url'],
  ['[remote "x"]\npromisor = true', 'remote.x.promisor'],
  ['[user]\nname = a\\\n[core]', 'a setting that cannot be read'],
  ['[core "x]\nbare = false', 'a setting that cannot be read'],
  ['name = x', 'a setting that cannot be read'],
])('settings %j: %s', (text, problem) => {
  expect(configProblem(text, { isOwnFolder: (path) => path === '../sub', as: 'read' })).toBe(problem);
});

test('reads the list of tracked files in every index version that git writes', () => {
  const folder = repository('r');
  mkdirSync(join(folder, 'deep', 'er'), { recursive: true });
  for (let at = 0; at < 40; at++) writeFileSync(join(folder, 'deep', 'er', `${'x'.repeat(at)}é`), `${at}`);
  git(folder, 'add', '.');
  git(folder, 'rm', '-q', '--cached', 'a.txt');
  git(folder, 'add', '-N', 'a.txt');
  const listed = git(folder, '-c', 'core.quotepath=false', 'ls-files').trim().split('\n').sort();
  for (const version of ['2', '3', '4']) {
    git(folder, 'update-index', '--index-version', version);
    expect([...(readIndex(readFileSync(join(folder, '.git', 'index')))?.paths ?? [])].sort()).toEqual(listed);
  }
  const bytes = readFileSync(join(folder, '.git', 'index'));
  expect(readIndex(bytes.subarray(0, bytes.length - 30))).toBeNull();
  git(folder, 'update-index', '--split-index');
  expect(readIndex(readFileSync(join(folder, '.git', 'index')))).toBeNull();
});

test('finds no problem in an ordinary repository, its folders, or outside of one', () => {
  const folder = repository('r');
  git(folder, 'remote', 'add', 'origin', 'https://example.org/x.git');
  git(folder, 'branch', '--set-upstream-to=main', 'main');
  expect([problemIn(folder), problemIn(join(folder, 'src'))]).toEqual([null, null]);
  expect(lookAtRepository(folder, [root]).tracked).toEqual([join(folder, 'a.txt'), join(folder, 'src', 'b.txt')]);
  mkdirSync(join(root, 'none'));
  expect(problemIn(join(root, 'none'))).toBeNull();
});

test('checks submodules as well', () => {
  const inner = repository('inner');
  const outer = repository('outer');
  git(outer, 'submodule', 'add', '-q', inner, 'sub');
  expect(problemIn(outer)).toBeNull();
  git(join(outer, 'sub'), 'config', 'core.fsmonitor', 'x');
  expect(problemIn(outer)).toContain('sub) that has its own settings that could run something or lead elsewhere (core.fsmonitor)');
});

test('reports anything unusual as a problem', () => {
  const outside = repository('../outside-of-test');
  try {
    const problems = {
      outside: problemIn(outside),
      hook: problemIn(changed('hook', (at) => writeFileSync(join(at, '.git/hooks/post-index-change'), '', { mode: 0o755 }))),
      alternates: problemIn(changed('alternates', (at) => writeFileSync(join(at, '.git/objects/info/alternates'), '/x'))),
      worktreeConfig: problemIn(changed('wt', (at) => writeFileSync(join(at, '.git/config.worktree'), '[core]\nfsmonitor=x'))),
      noHead: problemIn(changed('head', (at) => rmSync(join(at, '.git/HEAD')))),
      index: problemIn(changed('index', (at) => writeFileSync(join(at, '.git/index'), 'x'))),
      configFolder: problemIn(changed('cf', (at) => (rmSync(join(at, '.git/config')), mkdirSync(join(at, '.git/config'))))),
      linked: problemIn(
        changed('linked', (at) => (rmSync(join(at, '.git'), { recursive: true }), symlinkSync(join(root, 'hook/.git'), join(at, '.git')))),
      ),
      pointer: problemIn(
        changed(
          'pointer',
          (at) => (rmSync(join(at, '.git'), { recursive: true }), writeFileSync(join(at, '.git'), `gitdir: ${outside}/.git\n`)),
        ),
      ),
      bare: problemIn(changed('bare', (at) => git(at, 'init', '-q', '--bare', 'b')) + '/b'),
    };
    expect(problems).toEqual({
      outside: 'begins outside the workspace',
      hook: 'has a hook that git runs here (post-index-change)',
      alternates: 'borrows its objects from elsewhere',
      worktreeConfig: 'has its own settings that could run something or lead elsewhere (core.fsmonitor)',
      noHead: 'has an unusual .git',
      index: 'has a list of files that cannot be read',
      configFolder: 'has settings that cannot be read',
      linked: 'has an unusual .git',
      pointer: 'keeps its data elsewhere',
      bare: 'is a bare one',
    });
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
});

function changed(name: string, change: (folder: string) => unknown): string {
  const folder = repository(name);
  change(folder);
  return folder;
}

const hostile: Readonly<Record<string, (folder: string, ran: string) => void>> = {
  fsmonitor: (at, ran) => git(at, 'config', 'core.fsmonitor', `touch ${ran};false`),
  filter: (at, ran) => {
    git(at, 'config', 'filter.x.clean', `touch ${ran};cat`);
    writeFileSync(join(at, '.gitattributes'), '* filter=x\n');
    writeFileSync(join(at, 'a.txt'), 'b\n');
  },
  hook: (at, ran) => {
    writeFileSync(join(at, '.git/hooks/post-index-change'), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    writeFileSync(join(at, 'a.txt'), 'a\n');
  },
  include: (at, ran) => {
    writeFileSync(join(at, 'more'), `[core]\nfsmonitor = "touch ${ran};false"\n`);
    git(at, 'config', 'include.path', '../more');
  },
  includeIf: (at, ran) => {
    writeFileSync(join(at, 'more'), `[core]\nfsmonitor = "touch ${ran};false"\n`);
    git(at, 'config', `includeIf.gitdir:${at}/.path`, '../more');
  },
  submodule: (at, ran) => {
    git(at, 'submodule', 'add', '-q', repository('donor'), 'sub');
    git(join(at, 'sub'), 'config', 'core.fsmonitor', `touch ${ran};false`);
  },
  worktree: (at, ran) => {
    git(at, 'config', 'extensions.worktreeConfig', 'true');
    git(at, 'config', '--worktree', 'core.fsmonitor', `touch ${ran};false`);
  },
};

test.each(Object.keys(hostile))('a repository whose %s runs something at `git status` is not taken for harmless', (name) => {
  const folder = repository('r');
  const ran = join(root, 'RAN');
  hostile[name]?.(folder, ran);
  rmSync(ran, { force: true });
  expect(problemIn(folder)).not.toBeNull();
  // The trap works: git itself triggers it.
  git(folder, 'status');
  expect(existsSync(ran)).toBe(true);
});

test('a harmless command writes nothing, even where git would refresh its index', () => {
  const folder = repository('r');
  const index = join(folder, '.git/index');
  const age = (): Buffer => {
    utimesSync(join(folder, 'a.txt'), 1_000_000, 1_000_000 + (ages += 60));
    return readFileSync(index);
  };
  let ages = 0;
  for (const args of [['status'], ['diff'], ['log', '-p'], ['show'], ['branch', '-a'], ['blame', 'a.txt'], ['ls-files']]) {
    const before = age();
    execFileSync('git', args, { cwd: folder, env: { ...environment(), ...quietGit }, stdio: 'ignore' });
    expect({ args, isSame: readFileSync(index).equals(before) }).toEqual({ args, isSame: true });
  }
  for (const args of [['status'], ['diff']]) {
    const before = age();
    git(folder, ...args);
    expect(readFileSync(index).equals(before)).toBe(false);
  }
});
