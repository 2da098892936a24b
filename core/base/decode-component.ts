// Decodes percent-encoded text of another program, which may be encoded wrongly.

/** Returns text that is not valid percent-encoding unchanged: then it is the name of nothing. */
export function decodeComponent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
