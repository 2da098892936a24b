// The life of a skill: created, tested by its own cases, packed, and updated while a turn uses it.

import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../until.ts';
import { call, Gate, HelperRig } from './helper-rig.ts';

let rig: HelperRig;
let root: string;

beforeEach(async () => {
  rig = await HelperRig.start();
  root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-authoring-')));
});
afterEach(async () => {
  await rig.dispose();
  rmSync(root, { recursive: true, force: true });
});

const at = (...parts: readonly string[]): string => join(root, ...parts);

function write(name: string, version: string): string {
  mkdirSync(at(name), { recursive: true });
  const head = `name: ${name}\ndescription: Does the work of ${name} for a test.\nmetadata:\n  version: "${version}"\n`;
  writeFileSync(at(name, 'SKILL.md'), `---\n${head}---\n\nRead the notes.\n`);
  return at(name);
}

test('a new skill fails its case, and passes once its text is right', { timeout: 60_000 }, async () => {
  const isTold = (request: object): boolean => JSON.stringify(request).includes('Say the day.');
  const claw = await rig.open([{ when: isTold, answer: { text: 'It is on Tuesday.' } }, { answer: { text: 'It is soon.' } }]);
  await claw.op('skill.new', { name: 'note-taker', into: root });
  const path = at('note-taker');
  expect(await claw.op('skill.test', { path })).toMatchObject({ isGood: false, run: { passed: 0, failed: 1 } });
  const skill = at('note-taker', 'SKILL.md');
  writeFileSync(skill, readFileSync(skill, 'utf8').replace('Say what follows from it.', 'Say the day.'));
  expect(await claw.op('skill.test', { path })).toMatchObject({ isGood: true, risks: [], run: { passed: 1, failed: 0 } });
  expect(JSON.stringify(rig.model.requests)).not.toContain('not trusted');
});

test('the same files make the same archive, byte for byte', async () => {
  const claw = await rig.open([]);
  const path = write('notes', '1.0.0');
  const first = await claw.op('skill.pack', { path, out: at('one') });
  const second = await claw.op('skill.pack', { path, out: at('two') });
  expect(readFileSync(second.archive).equals(readFileSync(first.archive))).toBe(true);
  const plan = await claw.op('skill.plan', { wants: [first.archive], sha256: first.sha256 });
  expect(plan.skills).toMatchObject([{ sha256: first.contentSha256, source: { verified: 'The archive has the SHA-256 that you gave.' } }]);
});

test('a running turn keeps the version it began with', { timeout: 60_000 }, async () => {
  const gate = new Gate();
  const open = call('skill', { action: 'open', name: 'notes' });
  const claw = await rig.open(
    [
      { results: 0, answer: { calls: [open] } },
      { results: 1, answer: { calls: [call('wait_here', { who: 'reader' })] } },
      { answer: { text: 'Done.' } },
    ],
    {},
    [gate.tool()],
  );
  const folder = write('notes', '1.0.0');
  const first = await claw.op('skill.plan', { wants: [folder] });
  await claw.op('skill.install', { planId: first.planId ?? '' });
  const { turnId } = await claw.op('message.send', { text: 'Read it.' });
  await until(() => gate.entered.length === 1, 'the turn waits');
  write('notes', '1.1.0');
  const update = await claw.op('skill.plan', { wants: [folder] });
  const wish = { planId: update.planId ?? '' };
  await expect(claw.op('skill.install', wish)).rejects.toMatchObject({
    code: 'conflict',
    message: 'A turn that has not ended uses notes.',
  });
  gate.open();
  await claw.op('turn.wait', { turnId });
  await claw.op('skill.install', wish);
  expect(await claw.op('skill.get', { name: 'notes' })).toMatchObject({ version: '1.1.0', trust: 'content' });
});
