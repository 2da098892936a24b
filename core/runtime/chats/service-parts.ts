// Small parts that every chat service needs of the machine and of what is kept.

import type { ArtifactStore } from '../../store/artifact/artifact.ts';

/** A missing or damaged artifact is not sent; the health check reports it. */
export function readKept(artifacts: Pick<ArtifactStore, 'read'>, sha256: string): Uint8Array | null {
  try {
    return artifacts.read(sha256);
  } catch {
    return null;
  }
}

/** Calls again and again until the returned function is called; keeps no process alive. */
export function every(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms).unref();
  return () => {
    clearInterval(timer);
  };
}
