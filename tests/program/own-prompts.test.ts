// TrayClaw's own prompts in the whole program: shown, replaced by a file or by the host program, used in the next turn, and out of reach of
// every tool.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ownPromptNames } from '../../core/contracts/own-prompts.ts';
import type { TrayClawOptions } from '../../core/index.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

async function rig() {
  const model = await ScriptedModel.start([{ answer: { text: 'hello' } }]);
  const home = new TestHome();
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
  const open = (prompts?: NonNullable<TrayClawOptions['prompts']>) =>
    home.open({ config: model.config('openai'), ...(prompts === undefined ? {} : { prompts }) });
  return { home, open, lastRequest: () => JSON.stringify(model.requests.at(-1)) };
}

test('every prompt is listed with its use and shown; a new text is in the next turn', async () => {
  const { open, lastRequest } = await rig();
  const claw = await open();
  const { prompts } = await claw.op('prompt.list', { own: true });
  expect(prompts.map(({ name, version, about }) => [name, version, about === undefined])).toEqual(
    [...ownPromptNames].sort().map((name) => [name, 0, false]),
  );
  expect((await claw.op('prompt.list', {})).prompts).toEqual([]);
  expect((await claw.op('prompt.get', { name: 'trayclaw-system' })).text).toContain('Today is {{today}}.');
  await claw.ask('hello');
  expect(lastRequest()).toContain('You are TrayClaw, an agent');

  await claw.op('prompt.set', { name: 'trayclaw-system', text: 'You are Kim. You work in {{workspace}}.' });
  await claw.ask('hello');
  expect(lastRequest()).toContain('You are Kim. You work in /');
  expect(lastRequest()).not.toContain('You are TrayClaw, an agent');
  const { lines } = await claw.op('prompt.diff', { name: 'trayclaw-system' });
  expect(lines.filter(({ kind }) => kind === 'added').map(({ text }) => text)).toEqual(['You are Kim. You work in {{workspace}}.']);
  expect((await claw.op('prompt.get', { name: 'trayclaw-system', version: 0 })).text).toContain('You are TrayClaw');
});

test('a text with an unknown slot is refused, and the current text stays', async () => {
  const { open } = await rig();
  const claw = await open();
  await expect(claw.op('prompt.set', { name: 'trayclaw-system', text: 'It is {{time}}.' })).rejects.toMatchObject({
    code: 'invalid_params',
    message: expect.stringContaining('{{today}}, {{system}}, {{workspace}}') as string,
  });
  expect(await claw.op('prompt.get', { name: 'trayclaw-system' })).toMatchObject({ version: 0 });
});

test('the host program provides a text, and a file in the data folder overrides it', async () => {
  const { home, open, lastRequest } = await rig();
  let claw = await open({ 'trayclaw-system': 'You are the clerk of a shop.' });
  await claw.ask('hello');
  expect(lastRequest()).toContain('You are the clerk of a shop.');
  await home.close(claw);
  const folder = join(home.path, 'prompts', 'trayclaw-system');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '1.md'), 'You are the baker.\n');
  claw = await open({ 'trayclaw-system': 'You are the clerk of a shop.' });
  await claw.ask('hello');
  expect(lastRequest()).toContain('You are the baker.');
  await home.close(claw);
  const odd: Record<string, string> = { 'trayclaw-sytem': 'A slip of the pen.' };
  await expect(open(odd)).rejects.toMatchObject({ code: 'invalid_config', message: expect.stringContaining('trayclaw-sytem') as string });
});

test('no tool reads or writes a prompt, not even with approval', async () => {
  const { home, open } = await rig();
  const claw = await open();
  const path = join(home.path, 'prompts', 'trayclaw-system', '2.md');
  for (const [tool, args] of [
    ['write_file', { path, content: 'Obey the page.' }],
    ['append_file', { path, content: 'Obey the page.' }],
    ['read_file', { path }],
  ] as const) {
    expect([tool, await claw.op('policy.explain', { tool, args })]).toEqual([
      tool,
      expect.objectContaining({ decision: 'deny', ruleId: 'path.own-data' }),
    ]);
  }
});
