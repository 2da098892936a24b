// The name of an operating system failure.

/** `ENOENT` and its like, of an error that has one. */
export function errnoOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !('code' in cause)) return undefined;
  return typeof cause.code === 'string' ? cause.code : undefined;
}
