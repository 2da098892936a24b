// Reads the token out of an Authorization header. Form only.

/** Null unless it is one bearer token of printable characters. */
export function bearerIn(header: string | undefined): string | null {
  return header === undefined ? null : (/^Bearer ([\x21-\x7e]{1,512})$/i.exec(header)?.[1] ?? null);
}
