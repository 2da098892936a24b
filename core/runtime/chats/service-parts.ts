// Small helpers for timers and stored files that every chat service needs.

import type { ArtifactStore } from '../../store/artifact/artifact.ts';

/** A missing or damaged artifact is not sent; the health check reports it. */
export function readKept(artifacts: Pick<ArtifactStore, 'read'>, sha256: string): Uint8Array | null {
  try {
    return artifacts.read(sha256);
  } catch {
    return null;
  }
}

/** Calls `run` repeatedly until the returned function is called. Does not keep the process alive. */
export function every(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms).unref();
  return () => {
    clearInterval(timer);
  };
}
