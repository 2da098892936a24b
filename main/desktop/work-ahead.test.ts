// Work done in advance: one piece at a time, after the window has opened; a failure does not block the rest.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RecordingLogger } from '../../tests/rigs/desktop-bench.ts';
import { workAhead } from './work-ahead.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

test('runs the pieces one by one with pauses, and logs a failure', async () => {
  const did: string[] = [];
  const logger = new RecordingLogger();
  const stop = workAhead([() => void did.push('one'), () => Promise.reject(new Error('not there')), () => void did.push('three')], logger);
  await vi.advanceTimersByTimeAsync(399);
  expect(did).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(did).toEqual(['one']);
  await vi.advanceTimersByTimeAsync(40);
  expect([did, logger.lines]).toEqual([['one', 'three'], ['warn: something could not be prepared']]);
  // Other modules of the same worker may have timers too.
  const timers = vi.getTimerCount();
  stop();
  expect(vi.getTimerCount()).toBe(timers);
});

test('cancelling skips the remaining pieces', async () => {
  const did: string[] = [];
  const stop = workAhead([() => void did.push('one'), () => void did.push('two')], new RecordingLogger());
  await vi.advanceTimersByTimeAsync(400);
  stop();
  await vi.advanceTimersByTimeAsync(1_000);
  expect([did, vi.getTimerCount()]).toEqual([['one'], 0]);
});
