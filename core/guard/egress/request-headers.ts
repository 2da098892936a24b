// Checks the method and headers that a caller adds to a request. Pure; sends nothing.

import { AppError } from '../../contracts/errors.ts';

export const fetchMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
export type FetchMethod = (typeof fetchMethods)[number];

export type HeaderFields = Readonly<Record<string, string>>;

const HEADERS_MAX = 50;
const HEADERS_LENGTH_MAX = 16_000;

/** Headers that frame the message, control the connection or address intermediaries. Only the client may set them. */
const ownedByClient = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'accept-encoding',
  'http2-settings',
  'forwarded',
  'via',
]);
const ownedPrefixes = ['proxy-', 'x-forwarded-', 'sec-'];

/** Header names that reveal an identity or a key. */
const credentialNames = /^(?:authorization|cookie|.*(?:api-?key|token|secret|password|auth|session|signature|credential).*)$/;

export function carriesCredential(headerName: string): boolean {
  return credentialNames.test(headerName.toLowerCase());
}

/** Returns why the header may not be sent, or null. The reason never contains the value, which may be a secret. */
export function refuseHeader(name: string, value: string): string | null {
  const lower = name.toLowerCase();
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name)) return `${JSON.stringify(name.slice(0, 50))} is not the name of a header.`;
  if (ownedByClient.has(lower) || ownedPrefixes.some((prefix) => lower.startsWith(prefix))) {
    return `The header ${lower} is set by the client itself and cannot be given.`;
  }
  // Tabs and printable single-byte characters. A line break would start another header or another request.
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
    ? null
    : `The value of the header ${lower} holds line breaks or other forbidden characters.`;
}

/**
 * Returns lower-case names with trimmed values. Fails with `invalid_params` if a header is forbidden or repeated, or if all are too long.
 */
export function checkHeaders(given: HeaderFields): HeaderFields {
  const entries = Object.entries(given).map(([name, value]) => [name.toLowerCase(), value.trim(), refuseHeader(name, value)] as const);
  const refusal = entries.find(([, , reason]) => reason !== null)?.[2];
  if (refusal !== undefined && refusal !== null) throw new AppError('invalid_params', refusal);
  const length = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (entries.length > HEADERS_MAX || length > HEADERS_LENGTH_MAX) {
    throw new AppError('invalid_params', `At most ${HEADERS_MAX} headers of together ${HEADERS_LENGTH_MAX} characters may be given.`);
  }
  const fields = Object.fromEntries(entries.map(([name, value]) => [name, value]));
  if (Object.keys(fields).length < entries.length) throw new AppError('invalid_params', 'A header is given twice.');
  return fields;
}

export function checkMethod(given: string): FetchMethod {
  const method = fetchMethods.find((known) => known === given.toUpperCase());
  if (method === undefined) throw new AppError('invalid_params', `${JSON.stringify(given.slice(0, 20))} is not a method that can be sent.`);
  return method;
}
