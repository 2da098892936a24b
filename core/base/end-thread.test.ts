import { spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { endThread } from './end-thread.ts';

test('waits for a thread that ends', async () => {
  const worker = new Worker('for (;;);', { eval: true });
  const calls: string[] = [];
  await endThread({
    terminate: () => {
      calls.push('terminate');
      return worker.terminate();
    },
    unref: () => {
      calls.push('unref');
      worker.unref();
    },
  });
  expect(calls).toEqual(['terminate', 'unref']);
  expect(worker.threadId).toBe(-1);
});

test('waits only a limited time for a stuck thread, which then keeps no process alive', async () => {
  const calls: string[] = [];
  const gone = Promise.withResolvers<number>();
  await endThread({ terminate: () => gone.promise, unref: () => calls.push('unref') }, 5);
  expect(calls).toEqual(['unref']);
  gone.resolve(0);
});

test('a process that ends during the wait keeps its own exit code', () => {
  const file = new URL('./end-thread.ts', import.meta.url).href;
  const wait = `const { Worker } = await import('node:worker_threads'); const { endThread } = await import('${file}');
    const worker = new Worker('for (;;);', { eval: true }); worker.unref(); await endThread(worker); process.exit(7);`;
  for (let round = 0; round < 3; round++) expect(spawnSync(process.execPath, ['--input-type=module', '-e', wait]).status).toBe(7);
});
