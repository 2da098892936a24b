// The first minute of a new user, on the command line: no configuration, a key in the environment, a provider without a default, a dead
// server. It says which model answers, and never uses a key without consent.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

const key = 'sk-first-contact-0123456789';

interface Asked {
  readonly status: string;
  readonly text: string;
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string };
}

function open(): TestHome {
  const home = new TestHome({ isNew: true });
  onTestFinished(() => home.dispose());
  return home;
}

async function startVendor(): Promise<ScriptedModel> {
  const model = await ScriptedModel.start([{ answer: { text: 'Hello from the model.' } }], { key });
  onTestFinished(() => model.close());
  return model;
}

const settingsOf = (home: TestHome): string => {
  const file = join(home.path, 'config.yaml');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
};

test('a key in the environment is offered by name, not used, and set up by one command', { timeout: 120_000 }, async () => {
  const vendor = await startVendor();
  const home = open();
  Object.assign(home.env, { OPENAI_API_KEY: key, OPENAI_BASE_URL: `${vendor.origin}/v1` });
  const first = await home.cli(['ask', 'Hello']);
  expect(first.code).toBe(0);
  expect(first.stderr).toContain('This is the offline demo, not a language model');
  expect(first.stderr).toContain('Found a key for OpenAI in OPENAI_API_KEY.');
  expect(vendor.requests).toEqual([]);
  const command = /trayclaw (?:--home \S+ )?(setup .+ --yes)/.exec(first.stderr)?.[1]?.split(' ') ?? [];
  const done = await home.command(command);
  expect(done).toMatchObject({ code: 0, json: { provider: 'openai', model: 'openai/scripted' } });
  expect(settingsOf(home)).toContain('apiKey: env:OPENAI_API_KEY');
  expect(settingsOf(home)).not.toContain(key);
  expect((await home.cli(['ask', 'Hello'])).json).toMatchObject({ status: 'done', text: 'Hello from the model.' });
  expect(vendor.violations).toEqual([]);
  const { json: checks } = await home.command(['doctor']);
  expect(JSON.stringify(checks)).toContain('"detail":"openai/scripted"');
});

test('a configured provider without a default answers, and never the demo', async () => {
  const vendor = await startVendor();
  const home = open();
  home.env['MODEL_KEY'] = key;
  home.configure({ providers: { lab: { kind: 'openai-compatible', baseUrl: `${vendor.origin}/v1`, apiKey: 'env:MODEL_KEY' } } });
  const answer = await home.command(['ask', 'Hello']);
  expect([answer.code, (answer.json as Asked).text]).toEqual([0, 'Hello from the model.']);
  // No mention of a demo or of a missing model.
  expect(answer.stderr).toMatch(/^Working in \S+workspace\. [^.]+\.\n$/);
  expect(JSON.stringify((await home.command(['doctor'])).json)).toContain('"id":"model","ok":true,"detail":"lab/scripted"');
  const { json: models } = await home.command(['models']);
  expect(models).toMatchObject([{ ref: 'lab/scripted', isDefault: true }, { ref: 'demo/offline' }]);
});

test('an unreachable server is named with exit code 1, and not replaced by the demo', async () => {
  const home = open();
  home.configure({ providers: { lab: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' } } });
  const answer = await home.command(['ask', 'Hello']);
  expect(answer.code).toBe(1);
  expect((answer.json as Asked).error).toMatchObject({
    code: 'no_model',
    message: expect.stringContaining('http://127.0.0.1:9 (lab)') as string,
  });
  const doctor = await home.command(['doctor']);
  expect(doctor.code).toBe(1);
  const listed = await home.command(['models', '--provider', 'lab']);
  expect(listed.code).toBe(1);
});

test('nothing is written for a wrong key, whose variable is named, or without --yes', async () => {
  const vendor = await startVendor();
  const home = open();
  Object.assign(home.env, { WRONG: 'sk-wrong-key-00000', RIGHT: key });
  const at = ['setup', '--provider', 'works', '--base-url', `${vendor.origin}/v1`];
  const wrong = await home.command([...at, '--key-env', 'WRONG', '--yes']);
  expect(wrong).toMatchObject({
    code: 1,
    json: { error: { code: 'model_auth', hint: expect.stringContaining('Correct WRONG') as string } },
  });
  const shown = await home.command([...at, '--key-env', 'RIGHT']);
  expect(shown).toMatchObject({ code: 3, json: { wouldWrite: { model: 'works/scripted' } } });
  expect(settingsOf(home)).toBe('');
  expect((await home.command(['setup'])).code).toBe(2);
  expect((await home.command(['setup', '--provider', 'nobody', '--yes'])).code).toBe(2);
  const keyless = await home.command(['setup', '--provider', 'openai', '--yes']);
  expect([keyless.code, JSON.stringify(keyless.json)]).toEqual([
    2,
    expect.stringMatching(/OpenAI needs a key\..*--key-env OPENAI_API_KEY/),
  ]);
  const odd = await home.command(['setup', '--provider', 'other', '--base-url', 'ftp://server', '--yes']);
  expect(JSON.stringify(odd.json)).toContain('--base-url must be a web address such as https://example.org.');
});

test.each(['sk-a\u2026z', 'sk-a\nb'])('a key that no header can contain is not reported as a dead server: %j', async (pasted) => {
  const vendor = await ScriptedModel.start([]);
  onTestFinished(() => vendor.close());
  const done = await open().command(['setup', '--provider', 'works', '--base-url', `${vendor.origin}/v1`, '--key-stdin', '--yes'], pasted);
  expect(done.json).toEqual({
    error: {
      code: 'invalid_config',
      message: 'The address, key or headers of works cannot be sent over HTTP.',
      hint: 'Copy the key again: it is one word, without spaces, line breaks or signs that stand for the rest. Nothing else was changed.',
    },
  });
});

test('a pasted key of any length goes only to the vault, with a warning if it is short', async () => {
  const vendor = await ScriptedModel.start([{ answer: { text: 'ok' } }], { key: 'lab' });
  onTestFinished(() => vendor.close());
  const home = open();
  home.env['TRAYCLAW_VAULT_PASSPHRASE'] = 'correct horse battery';
  home.configure({ secrets: { store: 'vault' } });
  const done = await home.command(['setup', '--provider', 'works', '--base-url', `${vendor.origin}/v1`, '--key-stdin', '--yes'], 'lab\n');
  expect(done).toMatchObject({
    code: 0,
    json: { model: 'works/scripted', warnings: [expect.stringContaining('fewer than 8 characters') as string] },
  });
  expect(settingsOf(home)).toContain('apiKey: keychain:works');
  expect((await home.command(['ask', 'The lab is open'])).json).toMatchObject({ status: 'done', text: 'ok' });
  expect(JSON.stringify(vendor.requests.at(-1)?.body)).toContain('The lab is open');
});
