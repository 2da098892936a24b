// Keeps the text of the PDF that was read last, because a long one is read in parts, and each part would read the whole again. One text,
// bounded in size, known by the content of its PDF.

import { hash } from 'node:crypto';
import { pdfLines } from './web-page.ts';

export type PdfLines = Awaited<ReturnType<typeof pdfLines>>;

const TEXT_CHARS_MAX = 4_000_000;

export class RecentPdf {
  readonly #read: typeof pdfLines;
  #last: { readonly sha256: string; readonly lines: PdfLines } | null = null;

  constructor(read = pdfLines) {
    this.#read = read;
  }

  /** As `pdfLines`. */
  async lines(bytes: Uint8Array, signal: AbortSignal): Promise<PdfLines> {
    const sha256 = hash('sha256', bytes, 'hex');
    if (this.#last?.sha256 === sha256) return this.#last.lines;
    const lines = await this.#read(bytes, signal);
    this.#last = lines.text.length > TEXT_CHARS_MAX ? null : { sha256, lines };
    return lines;
  }
}
