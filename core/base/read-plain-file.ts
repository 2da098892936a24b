// Reads a small file that a person or another program wrote. Refuses a pipe, a device or a folder instead of waiting for it. Calls the file
// system only through its parameters.

import { decodeUtf8 } from './decode-utf8.ts';

/** The part of `node:fs` used here. */
export interface ReadCalls {
  readonly constants: { readonly O_RDONLY: number; readonly O_NONBLOCK?: number };
  openSync(path: string, flags: number): number;
  fstatSync(handle: number): { isFile(): boolean; readonly size: number };
  readFileSync(handle: number): Uint8Array;
  closeSync(handle: number): void;
}

export type PlainFile =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'not-plain' }
  | { readonly kind: 'not-utf8' }
  | { readonly kind: 'too-large'; readonly sizeBytes: number };

/** Fails with the error of the file system if the file cannot be opened. */
export function readPlainFile(fs: ReadCalls, path: string, bytesMax: number): PlainFile {
  // Without this flag, opening a pipe waits for a writer. Windows does not have it.
  const handle = fs.openSync(path, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
  try {
    const stat = fs.fstatSync(handle);
    if (!stat.isFile()) return { kind: 'not-plain' };
    if (stat.size > bytesMax) return { kind: 'too-large', sizeBytes: stat.size };
    const text = decodeUtf8(fs.readFileSync(handle));
    return text === null ? { kind: 'not-utf8' } : { kind: 'text', text };
  } finally {
    fs.closeSync(handle);
  }
}
