// Decodes text. Invalid UTF-8 is reported instead of replaced, because replacing it silently changes what a person gave.

/** Without a byte order mark; null for bytes that are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
