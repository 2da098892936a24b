// Small helpers that every chat service needs: timers, stored files, downloads.

import { AppError } from '../../contracts/errors.ts';
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

export interface DownloadLimits {
  readonly name: string;
  readonly sizeBytesMax: number;
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
}

const FETCH_MS = 120_000;

/** Counts the bytes, because the size that a server states is not trusted. Rejects with `payload_too_large`, or as fetch does. */
export async function download(address: string, { name, sizeBytesMax, fetch, signal }: DownloadLimits): Promise<Uint8Array> {
  const response = await fetch(address, { signal: AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS)]), redirect: 'error' });
  if (!response.ok || response.body === null) throw new Error(`the file server answered ${response.status}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > sizeBytesMax) throw tooBig(name, sizeBytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export function tooBig(name: string, sizeBytesMax: number): AppError {
  return new AppError('payload_too_large', `"${name}" is larger than ${Math.floor(sizeBytesMax / 1_000_000)} MB.`, {
    hint: 'Send a smaller one, or put it into the workspace.',
  });
}

/** The name is only displayed: it never becomes part of a path. */
export function fileName(name: string): string {
  const plain = name.replaceAll(/[\p{C}/\\]/gu, '_').slice(0, 100);
  return plain === '' ? 'file' : plain;
}
