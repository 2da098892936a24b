// The panic stop on a full disk.

import { expect, test } from 'vitest';
import { ManualClock } from '../../base/clock.ts';
import { PanicSwitch } from '../../guard/panic/panic.ts';
import { createPanicOps } from './panic-ops.ts';

const caller = { channel: 'cli', actor: 'cli' } as const;

test('with a full disk, the error says first that everything is stopped', async () => {
  const stopped: string[] = [];
  const append = (): never => {
    throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  };
  const panic = new PanicSwitch();
  const ops = createPanicOps({
    clock: new ManualClock(),
    head: { secure: () => void stopped.push('head') },
    log: { append, reads: { slice: () => [] } },
    panic,
    processes: { killAll: () => Promise.resolve({ killed: 1, tookMs: 1 }) },
    turns: { stopAll: () => void stopped.push('turns'), whenIdle: () => Promise.resolve() },
  } as unknown as Parameters<typeof createPanicOps>[0]);
  await expect(ops['panic.engage']({}, caller)).rejects.toMatchObject({
    code: 'store_full',
    message: 'Everything is stopped; this could not be recorded. The disk is full; nothing more can be recorded.',
  });
  expect([panic.engaged, stopped]).toEqual([true, ['turns', 'head']]);
});
