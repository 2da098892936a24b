// Work that begins after a pause, such as one in typing, and is called off when what it was for has changed.

/** For an effect: it returns the returned function, which ends the pause, or aborts the signal of the work that has begun. */
export function afterPause(ms: number, work: (signal: AbortSignal) => unknown): () => void {
  const gone = new AbortController();
  const timer = setTimeout(() => void work(gone.signal), ms);
  return () => {
    clearTimeout(timer);
    gone.abort();
  };
}
