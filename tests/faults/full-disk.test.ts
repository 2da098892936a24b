// Turns that a full disk ended: the error names the command that continues them, and each way to continue keeps their work.

import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTrayClaw, type TrayClaw } from '../../core/index.ts';
import { freeTool } from '../doubles/free-tool.ts';
import { until } from '../until.ts';
import { eachTest } from './home-and-model.ts';
import { needs } from '../needs.ts';
import { failureOf } from './bad-input-rig.ts';
import type { ScriptedModel } from '../doubles/scripted-model.ts';
import type { TestHome } from './test-home.ts';

let home: TestHome;
let model: ScriptedModel;

eachTest((made) => ({ home, model } = made));

const sessionId = 'ses_a';
/** More than the write-ahead log has room for without growing. */
const long = 'x'.repeat(1_900_000);

function mountSmallDisk(): string {
  const disk = home.project('disk');
  expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', disk]).status).toBe(0);
  return disk;
}

const ways: Readonly<Record<string, (claw: TrayClaw, turnId: string) => Promise<{ turnId: string }>>> = {
  'continuing the turn': (claw, turnId) => claw.op('turn.continue', { turnId }),
  'retrying its dead letter': async (claw) => {
    await until(async () => (await claw.op('dlq.list', {})).letters.length === 1, 'the dead letter is there');
    const { letters } = await claw.op('dlq.list', {});
    expect(letters[0]?.left).toContain('A retry continues where it stopped');
    return claw.op('dlq.retry', { letterId: letters[0]?.letterId ?? '' });
  },
};

test.each(Object.entries(ways))(
  '%s after the disk was full repeats no call',
  { ...needs('root on Linux, able to mount'), timeout: 60_000 },
  async (_, goOn) => {
    const disk = mountSmallDisk();
    const filler = join(disk, 'filler');
    const fill = () =>
      void spawnSync('sh', ['-c', `for i in 1 2 3 4; do dd if=/dev/zero bs=4096 count=1024 >> '${filler}' 2>/dev/null; done`]);
    let stamps = 0;
    const stamp = freeTool('stamp', {
      idempotency: () => 'unsafe',
      run: () => {
        stamps += 1;
        return Promise.resolve({ forModel: 'stamped' });
      },
    });
    model.script([
      { results: 0, answer: { calls: [{ tool: 'stamp', args: {} }] } },
      {
        results: 1,
        times: 1,
        answer: () => {
          fill();
          return { text: long };
        },
      },
      { results: 1, answer: { text: 'All done.' } },
    ]);
    const claw = await createTrayClaw({ home: join(disk, 'home'), config: model.config('openai'), tools: [stamp] });
    try {
      const { turnId } = await claw.op('message.send', { text: 'stamp it', sessionId });
      expect(await failureOf(claw.op('turn.wait', { turnId }))).toMatchObject({
        code: 'store_full',
        hint: expect.stringContaining(`Then continue: trayclaw turns continue ${turnId}`) as string,
      });
      rmSync(filler);
      await until(async () => (await claw.op('session.get', { sessionId })).session.status === 'failed', 'the end is recorded');
      const next = await goOn(claw, turnId);
      expect(await claw.op('turn.wait', { turnId: next.turnId })).toMatchObject({ status: 'done', text: 'All done.' });
      await until(async () => (await claw.op('dlq.list', {})).letters.length === 0, 'the dead letter is settled');
      expect([stamps, (await claw.op('audit.verify', {})).ok]).toEqual([1, true]);
    } finally {
      await claw.close();
      spawnSync('umount', ['-l', disk]);
    }
  },
);
