// Decodes UTF-8. Reports invalid text instead of replacing it, because a replacement would silently change a person's text.

/** Returns the text without a byte order mark, or null if the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
