// The scripts that grants are bound to, for interpreters by their names on each system.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
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
