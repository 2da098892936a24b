// Extracts the token from an Authorization header. Checks only its form.

/** Returns null unless the header is a single bearer token of printable characters. */
export function bearerIn(header: string | undefined): string | null {
  return header === undefined ? null : (/^Bearer ([\x21-\x7e]{1,512})$/i.exec(header)?.[1] ?? null);
}
