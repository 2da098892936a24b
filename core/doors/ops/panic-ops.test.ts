// The panic stop on a full disk.

import { expect, test } from 'vitest';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import type { AnyDraft } from '../../contracts/events.ts';
import { PanicSwitch } from '../../guard/panic/panic.ts';
import { createPanicOps } from './panic-ops.ts';

const caller = { channel: 'cli', actor: 'cli', gone: new AbortController().signal } as const;

test('a stop on a full disk says what it ended, and records it once there is space', async () => {
  const stopped: string[] = [];
  const written: AnyDraft[] = [];
  const ended = [1, 0, 0];
  let isFull = true;
  const append = (_session: string, drafts: AnyDraft[]): void => {
    if (isFull) throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
    written.push(...drafts);
  };
  const panic = new PanicSwitch();
  const ops = createPanicOps({
    clock: new ManualClock(),
    head: { secure: () => void stopped.push('head') },
    log: {
      append,
      reads: { slice: (_session: string, { types }: { types: string[] }) => written.filter(({ type }) => types.includes(type)).slice(-1) },
    },
    panic,
    processes: { killAll: () => Promise.resolve({ killed: ended.shift(), tookMs: 1 }) },
    turns: { stopAll: () => void stopped.push('turns'), whenIdle: () => Promise.resolve() },
  } as unknown as Parameters<typeof createPanicOps>[0]);
  await expect(ops['panic.engage']({}, caller)).rejects.toMatchObject({
    code: 'store_full',
    message: 'Everything is stopped; 1 process ended in 1 ms. This could not be recorded. The disk is full; nothing more can be recorded.',
  });
  expect([panic.engaged, stopped]).toEqual([true, ['turns', 'head']]);
  isFull = false;
  for (let press = 0; press < 2; press += 1) expect(await ops['panic.engage']({}, caller)).toMatchObject({ killed: 1, tookMs: 1 });
  expect(written.map(({ type, body }) => [type, body])).toEqual([
    ['panic.engaged', { reason: 'A person pressed the panic stop.', by: 'cli' }],
    ['panic.measured', { killed: 1, tookMs: 1 }],
  ]);
});
