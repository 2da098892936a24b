// Converts a page of bytes to text, split at whole characters, or reports that it is not text. Pure.

import { decodeText, isUtf16 } from '../../base/text-encoding.ts';
import { incompleteTailBytes } from '../../base/utf8-cut.ts';

export interface TextPage {
  /** The text, or null if the bytes are not text. */
  readonly text: string | null;
  /** The number of bytes that the page covers. A character cut at the end belongs to the next page. */
  readonly usedBytes: number;
}

/** `mark` holds the first two bytes of the whole content. */
export function textPage(bytes: Uint8Array, { isLast, mark }: { readonly isLast: boolean; readonly mark: Uint8Array }): TextPage {
  const cut = isUtf16(mark) ? bytes.length % 2 : incompleteTailBytes(bytes);
  const usedBytes = isLast ? bytes.length : bytes.length - cut;
  // A page shorter than one character must still make progress.
  const used = usedBytes === 0 ? bytes : bytes.subarray(0, usedBytes);
  const decoded = decodeText(used, { mark });
  const isText = decoded?.isExact === true && !decoded.text.includes('\0');
  return isText ? { text: decoded.text, usedBytes: used.length } : { text: null, usedBytes: bytes.length };
}
