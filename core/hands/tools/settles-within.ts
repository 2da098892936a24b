// Waits for a promise with a timeout, and leaves no timer behind.

import { sleep } from '../../base/waits.ts';

/** Returns true if the promise resolves within `ms`; false on timeout or if the signal aborts first. */
export async function settlesWithin(promise: Promise<unknown>, ms: number, signal?: AbortSignal): Promise<boolean> {
  const over = new AbortController();
  const stop = (): void => over.abort();
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) over.abort();
  try {
    return await Promise.race([promise.then(() => true), sleep(ms, over.signal).then(() => false)]);
  } finally {
    signal?.removeEventListener('abort', stop);
    over.abort();
  }
}
