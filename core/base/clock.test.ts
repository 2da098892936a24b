import { once } from 'node:events';
import { expect, test } from 'vitest';
import { systemLater } from './clock.ts';

test('a time in the past is due soon, without a warning from Node', async () => {
  const ended = new AbortController();
  const warned = once(process, 'warning', { signal: ended.signal }).then(
    () => true,
    () => false,
  );
  await new Promise<void>((resolve) => {
    systemLater(-3_592, resolve);
  });
  // Warnings are emitted in the next tick.
  await new Promise((resolve) => setTimeout(resolve, 5));
  ended.abort();
  expect(await warned).toBe(false);
});

test('a cancelled action does not run', async () => {
  let ran = false;
  systemLater(1, () => (ran = true))();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(ran).toBe(false);
});
