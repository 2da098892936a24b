// Waits for a promise, but not for ever, and leaves no timer behind.

import { sleep } from '../../base/deferred.ts';

/** True when the promise resolves within `ms`; false when the time is up or the signal aborts before. */
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
