// Runs work that several events request only once, a moment after the first of them.

export function soon(afterMs: number, work: () => Promise<void>, onError: (cause: unknown) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      work().catch(onError);
    }, afterMs);
  };
}
