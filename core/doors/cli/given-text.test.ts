// Text that a person gives in a file or on standard input is used unchanged, or refused with a hint.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClaw } from '../../../tests/doubles/fake-claw.ts';
import { FakeTerminal, fakeParts } from '../../../tests/doubles/fake-terminal.ts';
import { runCli } from './cli.ts';

const latin1 = Buffer.from('gr\u00FC\u00DFe', 'latin1');

async function given(argv: readonly string[], stdin: Buffer): Promise<{ code: number; err: string; calls: FakeClaw['calls'] }> {
  const claw = new FakeClaw();
  const terminal = new FakeTerminal();
  terminal.stdin.end(stdin);
  const code = await runCli(argv, terminal.io, fakeParts(claw));
  return { code, err: terminal.err, calls: claw.calls };
}

const readers = [
  ['ask', '-'],
  ['secret', 'set', 'openai'],
  ['prompts', 'set', 'style'],
  ['memory', 'import', '-'],
  ['knowledge', 'add', 'notes', '--text', '-'],
  ['safety', 'redact'],
];

test.each(readers)('%s refuses bytes that are not UTF-8 before it changes anything', async (...argv) => {
  const { code, err, calls } = await given(argv, latin1);
  expect({ code, err, calls }).toEqual({
    code: 2,
    err: expect.stringMatching(
      /^Standard input is not UTF-8 text\.\nSave it as UTF-8, or convert it, such as with: iconv -f latin1 -t utf-8\nSee: trayclaw [a-z ]+ --help\n$/,
    ) as string,
    calls: [],
  });
});

test('a byte order mark is not part of a secret', async () => {
  const { calls } = await given(['secret', 'set', 'openai'], Buffer.from('\uFEFFsk-live\r\n'));
  expect(calls.map(({ params }) => params)).toEqual([{ name: 'openai', value: 'sk-live' }]);
});

test.each([
  ['prompts', 'set', 'style'],
  ['memory', 'import'],
  ['ask', 'hello', '--schema'],
])('%s names the file that contains no text', async (...argv) => {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-given-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'given.txt');
  const said = async (): Promise<string> => (await given([...argv, file], Buffer.alloc(0))).err.split('\n')[0] ?? '';
  expect(await said()).toBe(`There is no file ${file}.`);
  writeFileSync(file, latin1);
  expect(await said()).toBe(`${file} is not UTF-8 text.`);
  writeFileSync(file, '');
  expect(await said()).toBe(`${file} is empty.`);
});

test.each(['{"a":', '@home', '"open', '{a: 1, a: 2}', '!!js/function x', '*x'])('rejects a setting that is not YAML: %s', async (value) => {
  const { code, err, calls } = await given(['config', 'set', 'models.default', value], Buffer.alloc(0));
  expect([code, calls, err.split('\n').length]).toEqual([2, [], 4]);
  expect(err).toMatch(
    /^<value> is not valid YAML: .+\nQuote a text that contains special characters, for example: '"@home"'\nSee: trayclaw config set --help\n$/,
  );
});
