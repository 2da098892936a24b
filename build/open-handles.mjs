// Runs in every test file: a handle that keeps the process alive after the file's last test, and was not there before the first, fails the
// file. It costs nothing while tests run. `npm test -- --detectAsyncLeaks FILE` shows where a handle came from.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';

/** Sockets, processes, watchers, timers. Pending requests end without help. */
const HANDLES =
  /^(?:TCPServerWrap|TCPSocketWrap|PipeServerWrap|PipeWrap|UDPWrap|ProcessWrap|FSEventWrap|StatWatcher|Worker|Timeout|Immediate)$/;

const CLOSING_TAKES_MS = 2_000;

/** @type {Map<string, number>} */
let before = new Map();

beforeAll(() => {
  // Open from their first use on.
  void [process.stdin, process.stdout, process.stderr];
  before = countHandles();
});

// Registered first, so that it runs last: after the file's own cleanup.
afterAll(async () => {
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
