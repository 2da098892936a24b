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

test('a setting that is not there is removed without a fault, whatever the file holds', async () => {
  const left = [null, '', '# mine\n', 'limits: {}\n'].map((yaml) => written(yaml, 'limits.steps', null));
  expect(await Promise.all(left)).toEqual(['no file', '', '# mine', 'limits: {}']);
});

test('a key with only comments below it takes a setting and keeps them; another value there is named', async () => {
  expect(await written('limits:\n  # steps: 9\n', 'limits.steps', 5)).toBe('limits:\n  steps: 5\n  # steps: 9');
  expect(await written('limits: few\n', 'limits.steps', 5)).toBe(
    'invalid_config: /config.yaml does not fit: limits must be keys with values.',
  );
});

test.each(['null\n', '---\n', '--- # mine\n...\n', '~'])('a file that holds nothing but %j takes a setting', async (yaml) => {
  expect(await written(yaml, 'limits.steps', 5)).toContain('limits:\n  steps: 5');
});

test('a link stays a link: the file it leads to takes the setting', needs('a Unix system'), async () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-write-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const [path, mine] = [join(home, 'config.yaml'), join(home, 'mine.yaml')];
  symlinkSync('mine.yaml', path);
  for (const value of [5, 6]) {
    await writeSettings(path, [{ key: 'limits.steps', value }]);
    expect([lstatSync(path).isSymbolicLink(), readFileSync(mine, 'utf8')]).toEqual([true, `limits:\n  steps: ${value}\n`]);
  }
});
