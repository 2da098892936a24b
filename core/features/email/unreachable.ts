// Explains why a mail server could not be connected to, for the person who sets it up.

import { getSystemErrorName } from 'node:util';

const words: readonly (readonly [RegExp, string])[] = [
  [/^(?:ENOTFOUND|EAI_AGAIN|EDNS)$/, 'is not known by that name'],
  [/^ECONNREFUSED$/, 'takes no connection on that port'],
  [/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/, 'shows a certificate that cannot be trusted'],
  [/^(?:ERR_SSL_\w+|EPROTO|ETLS)$/, 'speaks another kind of security on that port'],
];

/** Returns the end of a sentence about the server. */
export function whyUnreachable(cause: unknown): string {
  const codes = codesOf(cause);
  return words.find(([pattern]) => codes.some((code) => pattern.test(code)))?.[1] ?? 'cannot be reached';
}

/** Collects the error codes, with the innermost first, since it is the most specific. */
function codesOf(cause: unknown): string[] {
  if (typeof cause !== 'object' || cause === null) return [];
  const { code, errno, cause: inner } = cause as { code?: unknown; errno?: unknown; cause?: unknown };
  // nodemailer replaces the system's error code with its own, so read `errno`.
  const system = typeof errno === 'number' && errno < 0 ? [getSystemErrorName(errno)] : [];
  return [...codesOf(inner), ...system, ...(typeof code === 'string' ? [code] : [])];
}
