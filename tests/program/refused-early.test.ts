// Arguments that can never work are refused before a person is asked about the call.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TrayClaw } from '../../core/index.ts';
import { LoopbackChannel } from '../doubles/loopback-channel.ts';
import { TestHome } from '../faults/test-home.ts';

const home = new TestHome();
let claw: TrayClaw;

beforeAll(async () => {
  claw = await home.open({ config: { models: { default: 'demo/offline' } }, channels: [new LoopbackChannel()] });
});
afterAll(() => home.dispose());

test.each([
  ['schedule', { action: 'follow_up', prompt: 'look', at: '2020-01-01T00:00' }, 'never reached'],
  ['schedule', { action: 'follow_up', prompt: 'look', at: '2030-02-30T00:00' }, 'There is no day 2030-02-30'],
  ['edit_file', { path: 'a.txt', old: '', new: 'x' }, '"old" is empty'],
  ['edit_file', { path: 'a.txt', old: 'x', new: 'x' }, 'nothing to change'],
  ['message', { content: ' ' }, 'nothing to send'],
  ['message', { files: ['0'.repeat(64)] }, 'There is no artifact'],
  ['exec', { action: 'write', sessionId: 'bg_1', data: 'ls' }, 'There is no background command'],
])('%s %o', async (tool, args, told) => {
  await expect(claw.op('policy.explain', { tool, args })).rejects.toThrow(told);
  const ended = await claw.op('tool.run', { tool, args }).then(
    ({ outcome, forUser }) => [outcome, forUser],
    (cause: Error) => ['error', cause.message],
  );
  expect(ended).toEqual(['error', expect.stringContaining(told)]);
  expect((await claw.op('approval.list', { all: true })).approvals).toEqual([]);
});
