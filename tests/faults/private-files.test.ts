// Everything the program writes outside the workspace is readable by its owner only, even if the user's umask lets others read new files.

import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { needs } from '../needs.ts';
import { TestHome } from './test-home.ts';

/** The paths in a folder that others may read, relative to it. */
function openPaths(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => (statSync(path).mode & 0o077) !== 0)
    .map((path) => relative(folder, path));
}

test('a generous umask opens no file of the data folder and no result', { ...needs('Linux'), timeout: 120_000 }, async () => {
  await using home = new TestHome();
  home.configure({ models: { default: 'demo/offline' } });
  const results = join(home.path, '..', 'results');
  mkdirSync(results, { mode: 0o700 });
  home.env['TRAYCLAW_VAULT_PASSPHRASE'] = 'a passphrase of eight words';
  const umask = process.umask(0);
  onTestFinished(() => void process.umask(umask));
  const serving = await home.serve();
  const done = async (args: string[], stdin = '') => expect(await home.cli(args, stdin)).toMatchObject({ code: 0 });
  await done(['ask', 'hello']);
  await done(['tool', 'exec', '{"command":"seq 1 60000"}']);
  await done(['secret', 'set', 'key'], 'value');
  await done(['config', 'set', 'limits.sameCall', '7']);
  await done(['memory', 'export', '--out', join(results, 'memories.json')]);
  await done(['backup', 'create']);
  await done(['report', 'make', '--yes']);
  // Skills that are loaded again are an entry of the program's own log.
  const skill = join(home.path, 'workspace/skills/greet');
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, 'SKILL.md'), '---\nname: greet\ndescription: Greets people.\n---\nSay hello.\n');
  await expect.poll(() => existsSync(join(home.path, 'logs/trayclaw.log')), { timeout: 20_000 }).toBe(true);
  expect(openPaths(home.path).filter((path) => !path.startsWith('workspace/'))).toEqual([]);
  await serving.end('SIGTERM');
  const [backup = ''] = readdirSync(join(home.path, 'backups'));
  await done(['backup', 'restore', backup]);
  expect(openPaths(home.path).filter((path) => !path.startsWith('workspace/'))).toEqual([]);
  expect(openPaths(results)).toEqual([]);
  for (const name of ['backups', 'artifacts', 'logs', 'secrets.vault', 'trayclaw.head'])
    expect([name, existsSync(join(home.path, name))]).toEqual([name, true]);
});
