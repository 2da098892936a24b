// Ends a worker thread. Owns that a thread which is slow to go holds no process open.

/** What this needs of a `Worker`. */
export interface EndableThread {
  terminate(): Promise<number>;
  unref(): void;
}

/** Resolves when the thread is gone. */
export async function endThread(thread: EndableThread): Promise<void> {
  const gone = thread.terminate();
  // Only now: `terminate` takes the reference again.
  thread.unref();
  await gone;
}
