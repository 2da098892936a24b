import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { orAborted, sleep } from './waits.ts';

test('sleep resolves true in time, and false if the signal aborts or has aborted', async () => {
  expect(await sleep(0)).toBe(true);
  const cut = new AbortController();
  const slept = sleep(60_000, cut.signal);
  cut.abort();
  expect(await slept).toBe(false);
  expect(await sleep(60_000, cut.signal)).toBe(false);
});

test('returns the result of the work, or fails as soon as the signal aborts', async () => {
  const stopped = (): Error => new Error('stopped');
  const { signal } = new AbortController();
  expect(await orAborted(Promise.resolve(1), signal, stopped)).toBe(1);
  await expect(orAborted(Promise.reject(new Error('no')), signal, stopped)).rejects.toThrow('no');
  const cut = new AbortController();
  const hanging = orAborted(new Promise(() => undefined), cut.signal, stopped);
  cut.abort();
  await expect(hanging).rejects.toThrow('stopped');
  await expect(orAborted(new Promise(() => undefined), cut.signal, stopped)).rejects.toThrow('stopped');
});

test('work that fails after the abort is not an unhandled rejection', async () => {
  const cut = new AbortController();
  const late = Promise.withResolvers<number>();
  const raced = orAborted(late.promise, cut.signal, () => new Error('stopped'));
  cut.abort();
  await expect(raced).rejects.toThrow('stopped');
  late.reject(new Error('late'));
  await expect(late.promise).rejects.toThrow('late');
});

test('leaves no listener on a signal that outlives the work', async () => {
  const { signal } = new AbortController();
  await orAborted(Promise.resolve(1), signal, () => new Error('stopped'));
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});
