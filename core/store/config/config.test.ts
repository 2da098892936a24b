import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { configSchema } from '../../contracts/config.ts';
import { loadConfig } from './config.ts';

function homeWith(yaml?: string | Buffer): string {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-config-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  if (yaml !== undefined) writeFileSync(join(home, 'config.yaml'), yaml);
  return home;
}

test('uses the defaults if the file is missing or empty', async () => {
  for (const home of [homeWith(), homeWith(''), homeWith('# nothing\n')])
    expect(await loadConfig(home)).toEqual({ config: configSchema.parse({}), path: join(home, 'config.yaml'), warnings: [] });
});

test('a wrong configuration of a program is not blamed on the file', async () => {
  const refused = loadConfig(homeWith(), { budgets: {} });
  await expect(refused).rejects.toMatchObject({ code: 'invalid_config', hint: 'Correct the config that was passed in.' });
});

test('reads settings from the file, and program options override them', async () => {
  const home = homeWith(
    'providers:\n  lab: { kind: openai-compatible, baseUrl: "http://127.0.0.1:1/v1", apiKey: "env:LAB" }\nmodels: { default: lab/m }\n',
  );
  expect((await loadConfig(home)).config.models.default).toBe('lab/m');
  expect((await loadConfig(home, { budget: { perDayUsd: 2 } })).config).toMatchObject({ budget: { perDayUsd: 2 }, providers: {} });
});

test.each([
  ['an unknown key', 'budget: { perDayEur: 1 }', 'budget.perDayEur is not a known key'],
  ['an unknown key at the top', 'budgets: {}', 'budgets is not a known key'],
  ['a wrong type', 'limits: { steps: many }', 'limits.steps'],
  ['a secret itself', 'providers: { a: { kind: openai, apiKey: sk-123456 } }', 'never the secret itself'],
  ['no YAML', 'a: [1, 2', 'is not valid YAML'],
  ['a key twice', 'budget: {}\nbudget: {}', 'is not valid YAML: budget is named a second time in line 2.'],
  ['two documents', 'budget: {}\n---\nlimits: {}', 'begins a second document'],
  ['a key twice further down', 'budget:\n  perDayUsd: 1\n  perDayUsd: 2', 'perDayUsd is named a second time in line 3.'],
  ['a file that was not written by hand', `budget: {}\n${'#'.repeat(1_000_000)}`, 'is larger than 1 MB'],
  ['a list', '- a\n- b', 'must hold keys and values'],
  ['another encoding', Buffer.from('models:\n  default: m\u00FC/x\n', 'latin1'), 'is not UTF-8 text'],
  ['the encoding of an old Windows shell', Buffer.from('\uFEFFbudget: {}\n', 'utf16le'), 'is not UTF-8 text'],
  [
    'aliases without end',
    `a: &a [x,x]\n${'bcdefghijklm'
      .split('')
      .map((name, i) => `${name}: &${name} [${`*${'abcdefghijkl'[i]},`.repeat(9)}x]`)
      .join('\n')}`,
    'cannot be read',
  ],
])('rejects %s and names the key', async (_what, yaml, told) => {
  await expect(loadConfig(homeWith(yaml))).rejects.toMatchObject({
    code: 'invalid_config',
    message: expect.stringContaining(told) as string,
  });
});

test('fails if the file is unreadable', async () => {
  const home = homeWith();
  mkdirSync(join(home, 'config.yaml'));
  await expect(loadConfig(home)).rejects.toMatchObject({ code: 'invalid_config' });
});

test('refuses a channel for an unknown agent and lists the known agents', async () => {
  const channels = (agent: string) => ({ telegram: { token: 'env:T', agent } });
  await expect(loadConfig(homeWith(), { agents: { scout: {} }, channels: channels('skout') })).rejects.toMatchObject({
    code: 'invalid_config',
    message: expect.stringContaining('channels.telegram.agent: there is no agent "skout"') as string,
    hint: expect.stringContaining('There is: main, scout.') as string,
  });
  await expect(loadConfig(homeWith(), { agents: { scout: { helpers: ['main', 'skout'] } } })).rejects.toMatchObject({
    message: expect.stringContaining('agents.scout.helpers: there is no agent "skout"') as string,
  });
  for (const [agents, place] of [
    [{ heartbeat: { agent: 'skout' } }, 'heartbeat.agent'],
    [{ signals: { webhooks: { build: { secret: 'env:S', agent: 'skout' } } } }, 'signals.webhooks.build.agent'],
  ] as const) {
    await expect(loadConfig(homeWith(), agents)).rejects.toMatchObject({
      message: expect.stringContaining(`${place}: there is no agent "skout"`) as string,
    });
  }
  for (const agent of ['main', 'scout']) {
    expect((await loadConfig(homeWith(), { agents: { scout: {} }, channels: channels(agent) })).warnings).toEqual([]);
  }
});

test('warns of valid settings that have no effect', async () => {
  const { warnings } = await loadConfig(homeWith(), {
    models: { default: 'nowhere/m' },
    channels: { telegram: { token: 'env:T' } },
  });
  expect(warnings).toEqual([expect.stringContaining('"nowhere"')]);
  const ofAgent = await loadConfig(homeWith(), { agents: { scout: { model: 'nowhere/m' } }, models: { default: 'demo/offline' } });
  expect(ofAgent.warnings).toEqual(['agents.scout.model names the provider "nowhere", which is not under providers.']);
  expect((await loadConfig(homeWith(), { models: { default: 'ollama/m' } })).warnings).toEqual([]);
  const rule = { when: { agents: ['scout', 'skout', 'sk*', 'main'] }, then: 'deny' as const };
  const ruled = await loadConfig(homeWith(), { agents: { scout: {} }, policy: { rules: [rule] } });
  expect(ruled.warnings).toEqual(['policy.rules, rule 1: there is no agent "skout".']);
});
