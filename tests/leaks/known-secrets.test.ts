// A vault's secret is known before the first text of a new start: message, file, command output, title, search and export.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

const secret = 'hunter2-very-secret';
const passphrase = 'correct horse battery';

async function withVault(model: ScriptedModel): Promise<TestHome> {
  const home = new TestHome();
  home.env['TRAYCLAW_VAULT_PASSPHRASE'] = passphrase;
  home.configure({
    secrets: { store: 'vault' },
    providers: { lab: { kind: 'openai-compatible', baseUrl: `${model.origin}/v1`, apiKey: 'keychain:labkey' } },
    models: { default: 'lab/scripted' },
  });
  const claw = await home.open();
  await claw.op('secret.set', { name: 'labkey', value: secret });
  await claw.op('secret.set', { name: 'unnamed', value: 'never-named-in-config' });
  writeFileSync(join(home.workspace, 'notes.txt'), `the key is ${secret} and never-named-in-config\n`);
  await home.close(claw);
  return home;
}

test.each([1, 2, 3, 4, 5])("start %i knows the vault's secrets before the first text", async () => {
  await using model = await ScriptedModel.start();
  await using home = await withVault(model);
  const claw = await home.open();
  model.script([{ answer: { text: `you said ${secret}` } }]);
  const asked = await claw.ask(`my key is ${secret} and never-named-in-config ok`);
  expect(asked.status).toBe('done');
  const read = await claw.op('tool.run', { tool: 'read_file', args: { path: 'notes.txt' } });
  const found = await claw.op('session.search', { query: 'key' });
  const listed = await claw.op('session.list', { limit: 100 });
  const exported = await claw.op('session.export', { sessionId: asked.sessionId, format: 'jsonl' });
  const seen = JSON.stringify([asked, read, found, listed, exported, model.requests.map(({ body }) => body)]);
  await home.close(claw);
  const kept = ['trayclaw.db', 'trayclaw.db-wal'].map((name) => readIfThere(join(home.path, name))).join('');
  for (const value of [secret, 'never-named-in-config']) {
    expect(seen).not.toContain(value);
    expect(kept).not.toContain(value);
  }
  expect(seen).toContain('[redacted:labkey]');
});

test('a vault that stays locked is reported, and operations that need it are refused', async () => {
  await using model = await ScriptedModel.start();
  await using home = await withVault(model);
  delete home.env['TRAYCLAW_VAULT_PASSPHRASE'];
  const claw = await home.open();
  expect(claw.notices.join(' ')).toContain('The secret vault is locked.');
  const asked = await claw.ask('hello');
  expect(asked.status).toBe('failed');
  expect(model.requests).toEqual([]);
  const { checks } = await claw.op('health.check', {});
  expect(checks.find(({ id }) => id === 'secrets')).toMatchObject({ ok: false });
  await claw.op('secret.unlock', { passphrase });
  model.script([{ answer: { text: 'hi' } }]);
  expect((await claw.ask(`again with ${secret}`)).status).toBe('done');
  expect(JSON.stringify(model.requests.map(({ body }) => body))).not.toContain(secret);
  await claw.close();
});

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // The file is emptied and removed at the end.
    return '';
  }
}
