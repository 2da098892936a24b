// Ends a worker thread. Makes sure that a slow thread does not keep the process alive for long.

import { sleep } from './deferred.ts';

/** The part of `Worker` used here. */
export interface EndableThread {
  terminate(): Promise<number>;
  unref(): void;
}

const GONE_WITHIN_MS = 2_000;

/**
 * Resolves when the thread has ended, or after `withinMs`. Keeps the process alive until then: an unreferenced wait would end the process
 * in the middle, with an exit code that is not the program's.
 */
export async function endThread(thread: EndableThread, withinMs = GONE_WITHIN_MS): Promise<void> {
  const late = new AbortController();
  // `terminate` takes the reference to the thread again.
  await Promise.race([thread.terminate(), sleep(withinMs, late.signal)]);
  late.abort();
  thread.unref();
}
