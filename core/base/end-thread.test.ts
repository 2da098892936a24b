import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { endThread } from './end-thread.ts';

test('a thread that is going holds no process open, and is waited for', async () => {
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
