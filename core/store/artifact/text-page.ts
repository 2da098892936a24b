// Converts a page of bytes to text, split at whole characters, or reports that it is not text. Pure.

export interface TextPage {
  /** The text, or null if the bytes are not UTF-8. */
  readonly text: string | null;
  /** The number of bytes that the page covers. A character cut at the end belongs to the next page. */
  readonly usedBytes: number;
}

export function textPage(bytes: Uint8Array, isLast: boolean): TextPage {
  const usedBytes = isLast ? bytes.length : bytes.length - cutCharacterBytes(bytes);
  // A page shorter than one character must still make progress.
  const used = usedBytes === 0 ? bytes : bytes.subarray(0, usedBytes);
  if (used.includes(0)) return { text: null, usedBytes: bytes.length };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(used), usedBytes: used.length };
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    return { text: null, usedBytes: bytes.length };
  }
}

/** Returns the length of an unfinished UTF-8 sequence at the end, at most three bytes. */
function cutCharacterBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? back : 0;
    }
    if (byte < 0x80) return 0;
  }
  return 0;
}
