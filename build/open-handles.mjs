// Runs in every test file. Fails the file if a handle that was not open before its first test keeps the process alive after the last one, or
// if it leaves fake timers.
// Costs nothing while tests run. `npm test -- --detectAsyncLeaks FILE` shows where a handle came from.

import timers from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';

/** Sockets, processes, watchers, timers. Pending requests end on their own. */
const HANDLES =
  /^(?:TCPServerWrap|TCPSocketWrap|PipeServerWrap|PipeWrap|UDPWrap|ProcessWrap|FSEventWrap|StatWatcher|Worker|Timeout|Immediate)$/;

const CLOSING_TAKES_MS = 2_000;

/** @type {Map<string, number>} */
let before = new Map();

beforeAll(() => {
  // These stay open once they were used, so open them before counting.
  void [process.stdin, process.stdout, process.stderr];
  before = countHandles();
});

// Registered first, so that it runs last, after the file's own clean-up.
afterAll(async () => {
  // The next file of the worker would wait for them for ever.
  if (globalThis.setTimeout !== timers.setTimeout) throw new Error('fake timers were left after the last test of this file');
  const deadline = performance.now() + CLOSING_TAKES_MS;
  for (;;) {
    const left = [...countHandles()].filter(([name, count]) => count > (before.get(name) ?? 0));
    if (left.length === 0) return;
    if (performance.now() > deadline) {
      const words = left.map(([name, count]) => `${count - (before.get(name) ?? 0)} ${name}`).join(', ');
      throw new Error(`left open after the last test of this file: ${words}`);
    }
    await sleep(10, undefined, { ref: false });
  }
});

function countHandles() {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const name of process.getActiveResourcesInfo()) if (HANDLES.test(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
