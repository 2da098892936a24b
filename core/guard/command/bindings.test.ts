// The scripts that grants are bound to, for interpreters by their names on each system.

import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { bindingsOf } from './bindings.ts';
import { ContentHashes } from './content-hash.ts';
import { filesNamedBy } from './named-scripts.ts';
import { codeFiles } from './program-files.ts';

const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-bindings-')));
afterAll(() => rmSync(cwd, { recursive: true }));
for (const name of ['x.py', 'x.ps1', 'x.vbs', 'x.bat', 'x.dll', 'x.js']) writeFileSync(join(cwd, name), name);

function scriptsOf(argv: readonly string[]): string[] {
  const parts = { program: argv[0] ?? '', argv, cwd, configs: [], environment: {} };
  const bound = bindingsOf(parts, new ContentHashes(() => Date.now()));
  return bound.filter(({ kind }) => kind === 'script').map(({ name }) => name.slice(cwd.length + 1));
}

test.each([
  [['python.exe', 'x.py'], 'x.py'],
  [['C:\\Program Files\\Python\\python3.12.EXE', '-u', 'x.py'], 'x.py'],
  [['py', '-3', 'x.py'], 'x.py'],
  [['pyw.exe', 'x.py'], 'x.py'],
  [['cscript', '//nologo', 'x.vbs'], 'x.vbs'],
  [['wscript.exe', 'x.vbs'], 'x.vbs'],
  [['dotnet', 'x.dll'], 'x.dll'],
  [['cmd', '/c', 'x.bat'], 'x.bat'],
  [['C:\\Windows\\System32\\cmd.exe', '/d', '/c', 'x.bat'], 'x.bat'],
  [['powershell', '-File', 'x.ps1'], 'x.ps1'],
  [['pwsh.exe', '-NoProfile', '-File', 'x.ps1'], 'x.ps1'],
  [['node.exe', '--require', './x.js', 'x.py'], 'x.js,x.py'],
  [['/usr/bin/python3', 'x.py'], 'x.py'],
])('a grant for %j is bound to its script', (argv, scripts) => {
  expect(scriptsOf(argv).sort().join()).toBe(scripts);
});

test('a program that runs no script is bound to no script', () => {
  expect(scriptsOf(['cat.exe', 'x.py'])).toEqual([]);
  expect(scriptsOf(['pythonic', 'x.py'])).toEqual([]);
});

test('recipes that start a Windows interpreter name its script', () => {
  expect(filesNamedBy('all:\n\tpython.exe x.py\n\techo x.js\n', cwd, 'recipes')).toEqual([join(cwd, 'x.py')]);
  expect(filesNamedBy('all:\n\tcscript x.vbs\n', cwd, 'recipes')).toEqual([join(cwd, 'x.vbs')]);
});

function configsOf(argv: readonly string[], folder = cwd): string[] {
  const bound = bindingsOf({ program: '/bin/x', argv, cwd: folder, configs: [], environment: {} }, new ContentHashes(() => Date.now()));
  return bound.filter(({ kind }) => kind === 'config').map(({ name }) => name.slice(cwd.length + 1));
}

test.each([
  [['mvn', 'test'], 'pom.xml'],
  [['cmake', '--build', 'build'], 'CMakeLists.txt'],
  [['just'], 'Justfile'],
  [['task', 'build'], 'Taskfile.yml'],
  [['nox'], 'noxfile.py'],
  [['tox', '-e', 'py'], 'tox.ini'],
  [['rake'], 'Rakefile'],
  [['bundle', 'exec', 'rake'], 'Rakefile'],
  [['./gradlew', 'test'], 'build.gradle'],
  [['gulp'], 'gulpfile.js'],
  [['python3', '-m', 'pytest', '-q'], 'conftest.py'],
  [['py', '-3', '-m', 'invoke', 'x'], 'tasks.py'],
  [['python', '-Im', 'nox'], 'noxfile.py'],
  [['python3.12', '-mpytest'], 'conftest.py'],
  [['uv', 'run', 'tox'], 'tox.ini'],
  [['C:\\maven\\bin\\MVN.cmd', 'test'], 'pom.xml'],
])('a grant for %j is bound to the file it starts from', (argv, file) => {
  expect(configsOf(argv)).toContain(file);
});

test('files that a tool finds in a parent folder are bound, and other programs are bound to none', () => {
  mkdirSync(join(cwd, 'sub'));
  writeFileSync(join(cwd, 'Rakefile'), '');
  expect(configsOf(['rake'], join(cwd, 'sub'))).toContain('Rakefile');
  expect([configsOf(['tsc']), configsOf(['python3', '-m', 'json.tool']), configsOf(['node', 'pytest'])]).toEqual([[], [], []]);
});

/** Writes the files into a new folder. Returns those that bind a command there. */
function boundIn(folder: string, files: Readonly<Record<string, string>>, argv: readonly string[]): string[] {
  const root = join(cwd, folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, name, '..'), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const bound = bindingsOf({ program: '/bin/x', argv, cwd: root, configs: [], environment: {} }, new ContentHashes(() => Date.now()));
  const names = bound.filter(({ kind, sha256 }) => kind !== 'environment' && sha256 !== null).map(({ name }) => name);
  return [...new Set(names.filter((name) => name.startsWith(root)).map((name) => name.slice(root.length + 1)))].sort();
}

const made = { Makefile: '', 'sub/Makefile': 'include more.mk\n', 'sub/more.mk': 'all:\n\tsh z.sh\n', 'sub/z.sh': '', 'alt.mk': '' };
const included = {
  Makefile: 'include rules/*.mk $(X).mk\n-include local\n',
  'rules/a.mk': 'include deep.mk',
  'rules/b.txt': '',
  local: '',
  'deep.mk': '',
};
const tested = { 'conftest.py': '', 't/conftest.py': '', 't/unit/conftest.py': '', 't/unit/test_a.py': '', '.git/conftest.py': '' };
const listed = { 'CMakeLists.txt': 'add_subdirectory(lib)\ninclude(x.cmake)', 'lib/CMakeLists.txt': '', 'x.cmake': '', 'a.c': '' };

test.each([
  ['made', made, 'make', 'Makefile'],
  ['made', made, 'make -C sub', 'Makefile sub/Makefile sub/more.mk sub/z.sh'],
  ['made', made, 'make -Csub', 'Makefile sub/Makefile sub/more.mk sub/z.sh'],
  ['made', made, 'make --directory=sub', 'Makefile sub/Makefile sub/more.mk sub/z.sh'],
  ['made', made, 'make -falt.mk', 'Makefile alt.mk'],
  ['included', included, 'make', 'Makefile deep.mk local rules/a.mk'],
  ['tested', tested, 'pytest', 'conftest.py t/conftest.py t/unit/conftest.py'],
  ['tested', tested, 'python3 -m pytest t/unit/test_a.py::test_b', 'conftest.py t/conftest.py t/unit/conftest.py'],
  ['listed', listed, 'cmake -S .', 'CMakeLists.txt lib/CMakeLists.txt x.cmake'],
  ['npm', { 'package.json': '{}', 'app/package.json': '{}' }, 'npm --prefix app run x', 'app/package.json package.json'],
  ['task', { 'Taskfile.yml': 'includes:\n  docs: ./docs\n', 'docs/Taskfile.yml': '' }, 'task docs', 'Taskfile.yml docs/Taskfile.yml'],
  ['module', { 'a/__init__.py': '', 'a/b.py': '', 'a/c.py': '' }, 'python3 -Im a.b', 'a/__init__.py a/b.py'],
])('in the folder %s, %j with %j is bound to %j', (folder, files, line, bound) => {
  expect(boundIn(folder, files, line.split(' ')).join(' ')).toBe(bound);
});

test('code of a server is bound with the files next to it that it imports', () => {
  const files = {
    'server.py': 'import helper, os as system\nfrom pkg import (a, b)\nfrom .near import c\n',
    'helper.py': 'from pkg.deep.er import z\n',
    'near.py': '',
    'pkg/__init__.py': '',
    'pkg/a.py': '',
    'pkg/other.py': '',
    'pkg/deep/er.py': '',
    's.mjs': "import './u.js'; import state from './state.json'; import 'zod';",
    'u.ts': 'export * from "./w"; require("./missing")',
    'w.js': '',
    'state.json': '{}',
  };
  boundIn('server', files, []);
  const root = join(cwd, 'server');
  const codeOf = (...argv: string[]): string =>
    codeFiles(argv, root)
      .filter((file) => existsSync(file))
      .map((file) => file.slice(root.length + 1))
      .sort()
      .join(' ');
  const python = 'helper.py near.py pkg/__init__.py pkg/a.py pkg/deep/er.py server.py';
  expect(codeOf('python3', 'server.py')).toBe(python);
  expect(codeOf('python3', '-m', 'server')).toBe(python);
  expect(codeOf('node', 's.mjs')).toBe('s.mjs u.ts w.js');
});
