import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { WalSync } from './wal-sync.ts';

function open(hasFile = true): WalSync {
  const folder = mkdtempSync(join(tmpdir(), 'tc-'));
  const path = join(folder, 'wal');
  if (hasFile) writeFileSync(path, 'frames');
  const sync = new WalSync(path);
  onTestFinished(() => {
    sync.dispose();
    rmSync(folder, { recursive: true, force: true });
  });
  return sync;
}

test('calls during a wait share the next one, which begins after it', async () => {
  const sync = open();
  const first = sync.wait();
  const [second, third] = [sync.wait(), sync.wait()];
  expect([second === third, first === second]).toEqual([true, false]);
  const order: string[] = [];
  await Promise.all([first.then(() => order.push('first')), second.then(() => order.push('second'))]);
  expect(order).toEqual(['first', 'second']);
  expect(sync.wait()).not.toBe(second);
});

test('fails with a store error if the log cannot be opened, also for the next wait', async () => {
  const sync = open(false);
  const both = await Promise.allSettled([sync.wait(), sync.wait()]);
  expect(both.map((one) => (one.status === 'rejected' ? (one.reason as { code: string }).code : one.status))).toEqual([
    expect.stringMatching(/^store_/),
    expect.stringMatching(/^store_/),
  ]);
});

test('opens nothing after it was disposed', async () => {
  const sync = open();
  const running = sync.wait();
  sync.dispose();
  expect(await Promise.all([running, sync.wait()])).toEqual([undefined, undefined]);
});
