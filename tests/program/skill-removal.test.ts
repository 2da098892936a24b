// Removing a skill from the workspace: it is gone at once and restored by undo; a skill that must stay is refused with the reason, and
// nothing changes.

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TrayClaw } from '../../core/index.ts';
import { HelperRig } from './helper-rig.ts';

let rig: HelperRig;

beforeEach(async () => {
  rig = await HelperRig.start();
});
afterEach(() => rig.dispose());

const at = (...parts: readonly string[]): string => join(rig.home.workspace, 'skills', ...parts);

function put(path: string, content: string): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), content);
}

async function firstRemoval(claw: TrayClaw): Promise<unknown> {
  for await (const { type, body } of claw.events({ after: 0, signal: AbortSignal.timeout(5_000) }))
    if (type === 'skill.removed') return body;
  return null;
}

const skill = (name: string, more = ''): string => `---\nname: ${name}\ndescription: Does ${name} for a test.\n${more}---\n\nDo it.\n`;

test('a removed skill is gone at once, and undo restores every file and its trust', async () => {
  const claw = await rig.open([]);
  put('weather/SKILL.md', skill('weather'));
  put('weather/scripts/run.sh', 'true\n');
  chmodSync(at('weather/scripts/run.sh'), 0o755);
  const { sha256 } = await claw.op('skill.get', { name: 'weather' });
  await claw.op('skill.trust', { name: 'weather', sha256 });

  const removed = await claw.op('skill.remove', { name: 'weather' });
  expect(removed).toMatchObject({ name: 'weather', path: at('weather') });
  expect(readdirSync(at())).toEqual([]);
  await expect(claw.op('skill.get', { name: 'weather' })).rejects.toMatchObject({ code: 'not_found' });
  expect(await firstRemoval(claw)).toMatchObject({ name: 'weather', sha256, callId: removed.callId });

  const back = await claw.op('checkpoint.restore', { callId: removed.callId });
  expect(back.refused).toEqual([]);
  expect(readFileSync(at('weather/scripts/run.sh'), 'utf8')).toBe('true\n');
  expect(statSync(at('weather/scripts/run.sh')).mode & 0o777).toBe(0o755);
  await claw.op('skill.reload', {});
  expect(await claw.op('skill.get', { name: 'weather' })).toMatchObject({ sha256, trust: 'content' });
});

test('a skill that must stay is refused with the reason, and nothing changes', async () => {
  const claw = await rig.open([]);
  put('weather/SKILL.md', skill('weather'));
  put('trip/SKILL.md', skill('trip', 'metadata:\n  trayclaw-skills: weather\n'));
  const refused = (name: string) => claw.op('skill.remove', { name });
  await expect(refused('weather')).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('part of trip') as string });
  await expect(refused('csv-summary')).rejects.toMatchObject({
    code: 'invalid_params',
    message: expect.stringContaining('comes with the program') as string,
    data: { hint: expect.stringContaining('skills disable csv-summary') as string },
  });
  await expect(refused('nowhere')).rejects.toMatchObject({ code: 'not_found' });
  expect(existsSync(at('weather/SKILL.md'))).toBe(true);
  expect((await claw.op('checkpoint.list', {})).checkpoints).toEqual([]);

  await refused('trip');
  await refused('weather');
  expect(readdirSync(at())).toEqual([]);
});

test("of two with one name the workspace's is removed, and the bundled one is used", async () => {
  const claw = await rig.open([]);
  put('csv-summary/SKILL.md', skill('csv-summary'));
  expect((await claw.op('skill.remove', { name: 'csv-summary' })).path).toBe(at('csv-summary'));
  expect(await claw.op('skill.get', { name: 'csv-summary' })).toMatchObject({ origin: 'bundled', shadowed: [] });
});

test('under the panic stop nothing is removed', async () => {
  const claw = await rig.open([]);
  put('weather/SKILL.md', skill('weather'));
  await claw.op('panic.engage', {});
  await expect(claw.op('skill.remove', { name: 'weather' })).rejects.toMatchObject({ code: 'panic_engaged' });
  expect(existsSync(at('weather/SKILL.md'))).toBe(true);
});
