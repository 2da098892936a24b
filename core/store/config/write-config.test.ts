import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { needs } from '../../../tests/needs.ts';
import { writeSettings } from './write-config.ts';

async function written(yaml: string | null, key: string, value: unknown): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-write-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const path = join(home, 'config.yaml');
  if (yaml !== null) writeFileSync(path, yaml);
  const failure = await writeSettings(path, [{ key, value }]).then(
    () => null,
    (cause: Error & { code?: string }) => `${cause.code}: ${cause.message.replace(home, '')}`,
  );
  return failure ?? (existsSync(path) ? readFileSync(path, 'utf8').trim() : 'no file');
}

test('removing a missing setting succeeds, whatever the file contains', async () => {
  const left = [null, '', '# mine\n', 'limits: {}\n'].map((yaml) => written(yaml, 'limits.steps', null));
  expect(await Promise.all(left)).toEqual(['no file', '', '# mine', 'limits: {}']);
});

test('adds a setting to a key with only comments, and names a conflicting value', async () => {
  expect(await written('limits:\n  # steps: 9\n', 'limits.steps', 5)).toBe('limits:\n  steps: 5\n  # steps: 9');
  expect(await written('limits: few\n', 'limits.steps', 5)).toBe(
    'invalid_config: /config.yaml is not valid: limits must be keys with values.',
  );
});

test('a list is set as a whole, by index, or as the files of plugins', async () => {
  expect(await written('policy:\n  allowCommands: [ls]\n', 'policy.allowCommands.x', 'wc')).toBe(
    'invalid_config: policy.allowCommands is a list: set it as a whole.',
  );
  expect(await written('policy:\n  allowCommands: [ls]\n', 'policy.allowCommands.0', 'wc')).toBe('policy:\n  allowCommands: [ wc ]');
  expect(await written('plugins: [a.mjs] # mine\n', 'plugins.settings.one', { on: true })).toBe(
    'plugins:\n  files: [ a.mjs ] # mine\n  settings:\n    one:\n      on: true',
  );
});

test.each(['null\n', '---\n', '--- # mine\n...\n', '~'])('adds a setting to a file that contains only %j', async (yaml) => {
  expect(await written(yaml, 'limits.steps', 5)).toContain('limits:\n  steps: 5');
});

test('writes to the target of a link and keeps the link', needs('a Unix system'), async () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-write-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const [path, mine] = [join(home, 'config.yaml'), join(home, 'mine.yaml')];
  symlinkSync('mine.yaml', path);
  for (const value of [5, 6]) {
    await writeSettings(path, [{ key: 'limits.steps', value }]);
    expect([lstatSync(path).isSymbolicLink(), readFileSync(mine, 'utf8')]).toEqual([true, `limits:\n  steps: ${value}\n`]);
  }
});

test.each([
  ['full', 'dd if=/dev/zero of="$1/fill" 2>/dev/null', 10],
  // One page is left for a file of two.
  ['almost full', 'dd if=/dev/zero of="$1/fill" bs=4096 count=1 2>/dev/null', 6_000],
])('reports a disk that is %s and leaves the file unchanged', needs('root on Linux, able to mount'), (_, fill, length) => {
  const before = `limits:\n  steps: 5 # ${'x'.repeat(length)}\n`;
  const script = `
    mount -t tmpfs -o size=16k tmpfs "$1" && printf '%s' "$4" > "$1/config.yaml"
    ${fill}
    "$2" --input-type=module -e "$3" "$1/config.yaml"; cat "$1/config.yaml"; ls "$1"`;
  const write = `
    import { writeSettings } from ${JSON.stringify(new URL('write-config.ts', import.meta.url).href)};
    await writeSettings(process.argv[1], [{ key: 'limits.steps', value: 6 }]).catch((cause) => console.log(cause.code, cause.message));`;
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-write-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const words = ['--mount', 'sh', '-c', script, 'sh', folder, process.execPath, write, before];
  const said = execFileSync('unshare', words, { encoding: 'utf8' });
  expect(said).toBe(`store_full ${folder}/config.yaml cannot be written: the disk is full.\n${before}config.yaml\nfill\n`);
});
