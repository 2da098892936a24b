// Text that came as bytes. Bytes that are no UTF-8 are no text: replacing them would change what a person gave, without a word.

/** Without a byte order mark; null for bytes that are no UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
