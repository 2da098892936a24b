// Settings through the operations, with a runtime that reads its own file: the settings in use, the contents of the file, and refusals.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createTrayClaw, type AppError, type TrayClaw } from '../../index.ts';

async function open(yaml: string): Promise<{ claw: TrayClaw; path: string }> {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-config-'));
  const path = join(home, 'config.yaml');
  writeFileSync(path, yaml);
  const claw = await createTrayClaw({ home, environment: {} });
  onTestFinished(async () => {
    await claw.close();
    rmSync(home, { recursive: true, force: true });
  });
  return { claw, path };
}

test('a provider and a default model apply at once and are written to the file', async () => {
  const { claw, path } = await open('# mine\nmodels:\n  default: demo/offline\n');
  const lab = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', contextTokens: 9000 };
  expect(await claw.op('config.set', { key: 'providers.lab', value: lab })).toMatchObject({ holds: 'now' });
  expect(await claw.op('config.set', { key: 'models.default', value: 'lab/small' })).toMatchObject({ holds: 'now', warnings: [] });
  const { models, defaultModel } = await claw.op('model.list', {});
  expect(defaultModel).toBe('lab/small');
  expect(models[0]).toMatchObject({ ref: 'lab/small', kind: 'openai-compatible', contextTokens: 9000, inputUsdPerMillion: 0 });
  const { config, file } = await claw.op('config.get', {});
  expect(config).toMatchObject({ models: { default: 'lab/small' }, providers: { lab } });
  expect(file).toEqual({ models: { default: 'lab/small' }, providers: { lab } });
  expect(readFileSync(path, 'utf8')).toMatch(/^# mine\n/);
});

test('other settings apply from the next start on; an invalid one changes nothing', async () => {
  const { claw, path } = await open('limits:\n  steps: 7\n');
  expect(await claw.op('config.set', { key: 'limits.steps', value: 20 })).toMatchObject({ holds: 'next-start' });
  const { config, file } = await claw.op('config.get', {});
  expect([config.limits.steps, file]).toEqual([7, { limits: { steps: 20 } }]);
  await expect(claw.op('config.set', { key: 'limits.steps', value: 0 })).rejects.toMatchObject({
    code: 'invalid_config',
    message: expect.stringContaining('limits.steps must be') as string,
  });
  expect(readFileSync(path, 'utf8')).toBe('limits:\n  steps: 20\n');
  await claw.op('config.set', { key: 'limits.steps', value: null });
  expect((await claw.op('config.get', {})).file).toEqual({ limits: {} });
});

test('reports a file broken by an editor and keeps the settings in use', async () => {
  const { claw, path } = await open('limits:\n  steps: 7\n');
  writeFileSync(path, 'limits: [\n');
  const { config, file, problem } = await claw.op('config.get', {});
  expect([config.limits.steps, file]).toEqual([7, null]);
  expect(problem).toMatch(/is not valid YAML/);
});

test('searches for local model servers again on request', async () => {
  const server = createServer((_request, response) => response.end('{"data":[{"id":"tiny"}]}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { claw } = await open(
    `models: {default: demo/offline}\nproviders: {lab: {kind: openai-compatible, baseUrl: 'http://127.0.0.1:${port}/v1'}}\n`,
  );
  const refs = async (look: boolean): Promise<string[]> => (await claw.op('model.list', { look })).models.map(({ ref }) => ref);
  expect(await refs(false)).not.toContain('lab/tiny');
  expect(await refs(true)).toContain('lab/tiny');
});

test('one setting can be read by its key; a wrong key names similar settings', async () => {
  const { claw } = await open('limits:\n  steps: 7\n');
  const valueOf = async (key: string) => (await claw.op('config.get', { key })).value;
  expect(await valueOf('limits.steps')).toBe(7);
  expect(await valueOf('limits')).toMatchObject({ steps: 7, sameCall: 3 });
  await expect(claw.op('config.get', { key: 'limits.stpes' })).rejects.toMatchObject({
    code: 'not_found',
    hint: 'Did you mean limits.steps?',
  });
  await expect(claw.op('config.get', { key: 'limit.steps' })).rejects.toMatchObject({
    code: 'not_found',
    message: 'There is no setting limit.steps.',
    hint: 'Did you mean limits.steps?',
  });
  await expect(claw.op('config.get', { key: 'models.default' })).rejects.toMatchObject({
    message: 'Nothing is set for models.default.',
    hint: 'Set it with: trayclaw config set models.default VALUE',
  });
  await expect(claw.op('config.get', { key: 'limits.constructor' })).rejects.toMatchObject({ code: 'not_found' });
});

test('a wrong setting is refused by its name, and the file is not blamed', async () => {
  const { claw, path } = await open('limits:\n  steps: 7\n');
  const refusalOf = (key: string, value: unknown) => claw.op('config.set', { key, value }).catch((cause: AppError) => cause.told());
  expect(await refusalOf('limit.steps', 9)).toBe(
    'limit is not a known key (did you mean limits?). Nothing was changed. See all settings with: trayclaw config schema',
  );
  expect(await refusalOf('limits.stpes', 9)).toMatch(/^limits\.stpes is not a known key \(did you mean limits\.steps\?\)\./);
  expect(await refusalOf('limits.steps', 'many')).toMatch(/^limits\.steps must be a number, not text\. Nothing was changed\./);
  expect(readFileSync(path, 'utf8')).toBe('limits:\n  steps: 7\n');
});
