// Runs work that several events request only once, a moment after the first of them.

/** Events of one cause, such as one message or one failure, arrive together. */
const TOGETHER_MS = 200;

export function soon(work: () => Promise<void>, onError: (cause: unknown) => void, afterMs = TOGETHER_MS): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      work().catch(onError);
    }, afterMs);
  };
}
