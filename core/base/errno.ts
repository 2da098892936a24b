// The code of an operating system error.

/** Returns a code such as `ENOENT` if the error has one. */
export function errnoOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !('code' in cause)) return undefined;
  return typeof cause.code === 'string' ? cause.code : undefined;
}
