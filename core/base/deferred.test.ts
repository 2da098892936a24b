import { expect, test } from 'vitest';
import { Deferred, sleep } from './deferred.ts';

test('a deferred settles from outside, once', async () => {
  const done = new Deferred<number>();
  done.resolve(1);
  done.reject(new Error('late'));
  await expect(done.promise).resolves.toBe(1);
  const failed = new Deferred<number>();
  failed.reject(new Error('no'));
  await expect(failed.promise).rejects.toThrow('no');
});

test('sleep ends true in time, false when cut off, and never starts when it already was', async () => {
  expect(await sleep(0)).toBe(true);
  const cut = new AbortController();
  const slept = sleep(60_000, cut.signal);
  cut.abort();
  expect(await slept).toBe(false);
  expect(await sleep(60_000, cut.signal)).toBe(false);
});
