// The scripts that grants are bound to, for interpreters by their names on each system.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { bindingsOf } from './bindings.ts';
import { ContentHashes } from './content-hash.ts';
import { filesNamedBy } from './named-scripts.ts';

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
