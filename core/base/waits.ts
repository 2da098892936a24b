// Work that is done once, a sleep that a signal ends, and races of work against a signal or a time limit.

/** Calls `work` on first use and keeps its result. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | null = null;
  return () => (result ??= work());
}

/** Resolves true after `ms`, or false at once if the signal aborts. Never rejects. */
export function sleep(ms: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve(false);
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve(true);
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Returns the result of `work`, or throws `error()` as soon as the signal aborts, even if the work ignores the signal. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal, error: () => Error): Promise<T> {
  const over = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const fail = (): void => reject(error());
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    over.abort();
  }
}

/**
 * Returns true if the work resolves within `ms`; false when the time is up or the signal aborts first. Rejects as the work does. Leaves no
 * timer behind.
 */
export async function settlesWithin(work: Promise<unknown>, ms: number, signal?: AbortSignal): Promise<boolean> {
  const over = new AbortController();
  const ended = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  try {
    return await Promise.race([work.then(() => true), sleep(ms, ended).then(() => false)]);
  } finally {
    over.abort();
  }
}
