// A bug report over a data folder full of secrets: the archive contains none of them, and no message unless the conversation was named.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { expect, onTestFinished, test } from 'vitest';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';
import { until } from '../until.ts';
import { createPlant, registeredValues } from './plant.ts';

test('the saved report is what was shown, without a secret, a name or a message', { timeout: 60_000 }, async () => {
  const plant = createPlant();
  const model = await ScriptedModel.start([{ answer: { text: 'The grey heron answers.' } }]);
  const home = new TestHome();
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
  mkdirSync(join(home.path, 'logs'));
  // Cut between the planted secrets: half a secret in another entry could not be recognised.
  const pieces = plant.text.match(/[^]{1500,}?(?=\n\n|$)|[^]+$/g) ?? [];
  const line = (data: unknown, at: number): string => JSON.stringify({ at: `2026-01-0${(at % 9) + 1}`, level: 'warn', message: 'it broke', data }); // prettier-ignore
  const stack = 'Error: The grey heron broke\n    at openDoor (/home/someone/secret-place/core/doors/door.ts:10:5)\n';
  writeFileSync(join(home.path, 'logs/trayclaw.log'), [...pieces, stack].map((piece, at) => line({ cause: piece, deep: [{ piece }] }, at)).join('\n')); // prettier-ignore
  home.env['LAB_KEY'] = registeredValues[0] ?? '';
  const config = { ...model.config('openai'), budget: { perTurnUsd: 3 } };
  const claw = await home.open({ config });
  const { sessionId } = await claw.ask(`The grey heron asks. ${plant.text.slice(0, plant.text.lastIndexOf('\n\n', 20_000))}`);

  const { reportId, files } = await claw.op('report.make', {});
  const { path } = await claw.op('report.save', { reportId });
  const archive = Object.entries(unzipSync(readFileSync(path))).map(([name, bytes]) => ({ name, text: strFromU8(bytes) }));
  expect(archive).toEqual(files);
  expect(files.map(({ name }) => name)).toEqual(['about.txt', 'versions.json', 'health.json', 'settings.json', 'errors.json', 'log.txt']);
  const all = files.map(({ text }) => text).join('\n');
  expect(plant.leaksIn(all)).toEqual([]);
  for (const value of registeredValues) expect(all).not.toContain(value);
  expect(all).not.toMatch(/grey heron|secret-place/);
  expect(all).not.toContain(home.path);
  expect(all).not.toContain(`${homedir()}/`);
  expect(all).toContain('door.ts:10:5');
  expect(all).toContain('"kind": "openai-compatible"');
  await expect(claw.op('report.save', { reportId: 'another' })).rejects.toMatchObject({ code: 'conflict' });

  const told = await claw.op('report.make', { sessionId });
  const conversation = told.files.find(({ name }) => name === 'conversation.json')?.text ?? '';
  expect(conversation).toContain('The grey heron answers.');
  expect(plant.leaksIn(told.files.map(({ text }) => text).join('\n'))).toEqual([]);
  // Control: the search finds the secrets in the log itself.
  expect(plant.leaksIn(readFileSync(join(home.path, 'logs/trayclaw.log'), 'utf8').replaceAll('\\n', '\n')).length).toBeGreaterThan(50);
});

test('names that a person chose are left out, and so are addresses and folders', { timeout: 60_000 }, async () => {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  const place = join(home.path, 'outside', 'divorce-papers');
  mkdirSync(place, { recursive: true });
  const logged: unknown[][] = [];
  const claw = await home.open({
    logger: { log: (_level, ...said) => void logged.push(said) },
    config: {
      models: { default: 'janedoe/small' },
      providers: { janedoe: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/hidden', apiKey: 'env:HER_OWN_KEY' } },
      workspace: { path: place },
      agents: { lawyer: { description: 'Writes to the court.' }, coder: {} },
      policy: { rules: [{ when: { paths: ['testament'] }, then: 'deny', reason: 'grief' }], denyDomains: ['bank.example'] },
      mcp: { servers: { mybank: { command: '/opt/private-thing/run', args: ['plainpassword'] } } },
    },
  });
  await claw.op('door.create_token', { name: 'neighbour', door: 'openai' });
  mkdirSync(join(place, 'skills/alimony'), { recursive: true });
  writeFileSync(join(place, 'skills/alimony/SKILL.md'), '---\nname: alimony\ndescription: Works out what is owed.\n---\n\n1. Add.\n');
  await until(() => logged.some(([message]) => message === 'skills were reloaded'), 'the new skill is found');
  expect(JSON.stringify(logged)).not.toContain('alimony');
  const { files } = await claw.op('report.make', {});
  const all = files.map(({ text }) => text).join('\n');
  expect(all).not.toMatch(/janedoe|HER_OWN|hidden|divorce|lawyer|court|testament|grief|bank|private-thing|plainpassword|neighbour/);
  // Control: the health check itself says some of them, and the words of the program stay.
  const checked = JSON.stringify(await claw.op('health.check', {}));
  for (const name of ['divorce-papers', 'janedoe', 'HER_OWN_KEY', 'mybank', 'neighbour']) expect(checked).toContain(name);
  expect(all).toMatch(/"kind": "openai-compatible"/);
  expect(all).toMatch(/The MCP server \(name\) waits for your approval/);
});
