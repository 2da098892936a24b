// Decodes percent-encoded text from elsewhere, which may be encoded wrongly.

/** Returns text that is not valid percent-encoding unchanged. */
export function decodeComponent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
