// Keeps the text of the document that was read last, because a long one is read in parts, and each part would read the whole again. One text,
// bounded in size, known by the content of its document.

import { hash } from 'node:crypto';
import { documentLines } from './web-page.ts';

export type DocumentLines = Awaited<ReturnType<typeof documentLines>>;

const TEXT_CHARS_MAX = 4_000_000;

export class RecentDocument {
  readonly #read: typeof documentLines;
  #last: { readonly sha256: string; readonly lines: DocumentLines } | null = null;

  constructor(read = documentLines) {
    this.#read = read;
  }

  /** As `documentLines`. */
  async lines(bytes: Uint8Array, signal: AbortSignal): Promise<DocumentLines> {
    const sha256 = hash('sha256', bytes, 'hex');
    if (this.#last?.sha256 === sha256) return this.#last.lines;
    const lines = await this.#read(bytes, signal);
    this.#last = lines.text.length > TEXT_CHARS_MAX ? null : { sha256, lines };
    return lines;
  }
}
