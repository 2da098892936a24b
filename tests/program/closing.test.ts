// Closing while an approved command runs: it gets a moment to finish, and a killed one is recorded with its output.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { TrayClaw } from '../../core/index.ts';
import { TestHome } from '../faults/test-home.ts';

let home: TestHome;

beforeEach(() => {
  home = new TestHome();
  onTestFinished(() => home.dispose());
});

const open = (): Promise<TrayClaw> => home.open({ config: { models: { default: 'demo/offline' } }, resume: false });

/** Resolves once the command runs. */
async function begin(claw: TrayClaw, command: string): Promise<string> {
  const { turnId, pending } = await claw.op('tool.run', { tool: 'exec', args: { command }, wait: false });
  const over = new AbortController();
  const spawned = (async () => {
    for await (const { type } of claw.events({ after: 0, signal: over.signal })) if (type === 'tool.spawned') return;
  })();
  await claw.op('approval.decide', { approvalId: pending?.[0]?.approvalId ?? '', decision: 'approve' });
  await spawned;
  over.abort();
  return turnId;
}

async function callAfterRestart(turnId: string) {
  const claw = await open();
  const { calls } = await claw.op('turn.get', { turnId });
  const { outcomes } = await claw.op('outcome.list', {});
  await claw.close();
  return { call: calls[0], unknown: outcomes.length };
}

test('a command that had to be killed is cancelled by shutdown, with its output', async () => {
  const claw = await open();
  const turnId = await begin(claw, 'echo begun; sleep 60; echo never');
  await new Promise((resolve) => setTimeout(resolve, 300));
  await claw.close();
  const { call, unknown } = await callAfterRestart(turnId);
  expect([call?.outcome, unknown]).toEqual(['cancelled', 0]);
  expect(call?.forUser).toMatch(/^begun\n\[cancelled by shutdown/);
});

test('a command that ends within a moment has its own outcome', async () => {
  const claw = await open();
  const turnId = await begin(claw, 'sleep 0.4; echo done');
  await claw.close();
  const { call, unknown } = await callAfterRestart(turnId);
  expect([call?.outcome, call?.forUser, unknown]).toEqual(['ok', 'done\n', 0]);
});

test.each([
  ['append_file', { path: 'a.md', content: 'more' }, 'oldmore'],
  ['edit_file', { path: 'a.md', old: 'old', new: 'new' }, 'new'],
])('%s whose end closing interrupts is recorded as done, and nothing is asked about it', async (tool, args, after) => {
  const claw = await home.open({ config: { models: { default: 'demo/offline' }, policy: { mode: 'workspace-free' } }, resume: false });
  const file = join(home.workspace, 'a.md');
  writeFileSync(file, 'old');
  const begun = claw.op('tool.run', { tool, args, wait: false });
  // It is written, but its end is not yet on the disk.
  while (readFileSync(file, 'utf8') !== after) await new Promise((resolve) => setImmediate(resolve));
  await claw.close();
  const { call, unknown } = await callAfterRestart((await begun).turnId);
  expect([readFileSync(file, 'utf8'), call?.outcome, unknown]).toEqual([after, 'ok', 0]);
});
