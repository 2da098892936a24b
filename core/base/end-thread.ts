// Ends a worker thread, without letting a slow thread keep the process alive for long.

import { settlesWithin } from './waits.ts';

/** The part of `Worker` used here. */
export interface EndableThread {
  terminate(): Promise<number>;
  unref(): void;
}

const GONE_WITHIN_MS = 2_000;

/**
 * Resolves when the thread has ended, or after `withinMs`. Keeps the process alive until then: without a reference, the process would end
 * during the wait with an exit code that is not the program's.
 */
export async function endThread(thread: EndableThread, withinMs = GONE_WITHIN_MS): Promise<void> {
  // `terminate` references the thread again.
  await settlesWithin(thread.terminate(), withinMs);
  thread.unref();
}
