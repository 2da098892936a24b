// Ends a worker thread. Owns that a thread which is slow to go does not hold the process open for long.

import { sleep } from './deferred.ts';

/** What this needs of a `Worker`. */
export interface EndableThread {
  terminate(): Promise<number>;
  unref(): void;
}

const GONE_WITHIN_MS = 2_000;

/**
 * Resolves when the thread is gone, or after `withinMs`. Until then it keeps the process alive: a wait that does not ends the process in
 * the middle of it, with an exit code that is not the program's.
 */
export async function endThread(thread: EndableThread, withinMs = GONE_WITHIN_MS): Promise<void> {
  const late = new AbortController();
  // `terminate` takes the reference to the thread again.
  await Promise.race([thread.terminate(), sleep(withinMs, late.signal)]);
  late.abort();
  thread.unref();
}
