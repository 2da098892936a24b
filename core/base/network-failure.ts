// The only table of the error codes of sockets, TLS and the HTTP client: the kind of each, and the sentence about it for people. Decides
// nothing.

export type NetworkFailure =
  | 'refused'
  | 'unreachable'
  | 'unknown-host'
  | 'timeout'
  | 'closed'
  | 'certificate'
  | 'encryption'
  | 'not-http'
  | 'headers'
  | 'length'
  | 'damaged';

const CAUSE_DEPTH_MAX = 6;

const byCode: Readonly<Record<string, NetworkFailure>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ENOTFOUND: 'unknown-host',
  EAI_AGAIN: 'unknown-host',
  EAI_NODATA: 'unknown-host',
  // The name that nodemailer gives these.
  EDNS: 'unknown-host',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  ECONNRESET: 'closed',
  EPIPE: 'closed',
  UND_ERR_SOCKET: 'closed',
  UND_ERR_HEADERS_OVERFLOW: 'headers',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'length',
  Z_DATA_ERROR: 'damaged',
  Z_BUF_ERROR: 'damaged',
};

/** The codes that have a number or a name in them. The first pattern that fits applies. */
const byPattern: readonly (readonly [RegExp, NetworkFailure])[] = [
  [/^HPE_/, 'not-http'],
  [/^ERR__ERROR_FORMAT/, 'damaged'],
  // A server that wants a certificate of the client says so after the request was sent, so this is not an untrusted certificate.
  [/^ERR_SSL_|^EPROTO$|^ETLS$/, 'encryption'],
  [/CERT|SELF_SIGNED|ISSUER|LEAF_SIGNATURE|^UNABLE_TO_/, 'certificate'],
  [/SSL|TLS/, 'encryption'],
];

/** The codes of a certificate that only an authority unknown to this program has signed. */
const unknownAuthority = /^UNABLE_TO_GET_ISSUER_CERT|^UNABLE_TO_VERIFY_LEAF_SIGNATURE$|SELF_SIGNED_CERT/;

const installIt =
  ' If a company or a server of your own signed it, install the certificate of its authority on this computer, or name its file in' +
  ' NODE_EXTRA_CA_CERTS.';

const sentences: Readonly<Record<NetworkFailure, (place: string, code: string) => string>> = {
  refused: (place) => `Nothing answers at ${place}.`,
  unreachable: (place) => `${capital(place)} cannot be reached from this computer.`,
  'unknown-host': (place) => `The host of ${place} cannot be found.`,
  timeout: (place) => `${capital(place)} did not answer in time.`,
  closed: (place) => `${capital(place)} closed the connection.`,
  certificate: (place, code) => `The certificate of ${place} cannot be trusted (${code}).${isUnknownAuthority(code) ? installIt : ''}`,
  encryption: (place, code) => `No secure connection to ${place} could be made (${code}).`,
  'not-http': (place) => `${capital(place)} did not answer in valid HTTP.`,
  headers: (place) => `${capital(place)} sent more headers than are read.`,
  length: (place) => `${capital(place)} did not send as much as it announced.`,
  damaged: (place) => `${capital(place)} sent a damaged answer.`,
};

/** The kind of a failure, by its code; null for a code that no connection has. */
export function networkFailure(code: string | null): NetworkFailure | null {
  if (code === null) return null;
  return byCode[code] ?? byPattern.find(([pattern]) => pattern.test(code))?.[1] ?? null;
}

/** A sentence about the server at `place`, which may be a host, an address or words for a server. */
export function networkSentence(code: string | null, place: string): string {
  const kind = networkFailure(code);
  if (kind !== null) return sentences[kind](place, code ?? '');
  return `${capital(place)} could not be reached${code === null ? '' : ` (${code})`}.`;
}

export function isUnknownAuthority(code: string | null): boolean {
  return code !== null && unknownAuthority.test(code);
}

/** True if no byte of the request was sent, so that a second attempt cannot do anything twice. */
export function isNeverSent(code: string | null): boolean {
  const kind = networkFailure(code);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return true;
  return kind === 'refused' || kind === 'unreachable' || kind === 'unknown-host' || kind === 'certificate';
}

/**
 * The code of the error or of one that caused it; null if none has one. A code of this table is preferred: fetch wraps the socket's error,
 * which wraps one error for each address.
 */
export function networkCode(cause: unknown): string | null {
  const codes = codesOf(cause, 0);
  return codes.find((code) => networkFailure(code) !== null) ?? codes[0] ?? null;
}

function codesOf(cause: unknown, depth: number): string[] {
  if (depth > CAUSE_DEPTH_MAX || typeof cause !== 'object' || cause === null) return [];
  const { originalCode, code, name, cause: inner } = cause as Readonly<Record<string, unknown>>;
  // nodemailer replaces the code of the system and keeps it here.
  const own = [originalCode, code].filter((one) => typeof one === 'string');
  // In some versions, errors of the HTTP parser have no code.
  const parser = name === 'HTTPParserError' ? ['HPE_INVALID'] : [];
  const parts: readonly unknown[] = cause instanceof AggregateError ? (cause.errors as unknown[]) : [];
  return [...own, ...parser, ...[...parts.slice(0, 1), inner].flatMap((part) => codesOf(part, depth + 1))];
}

function capital(words: string): string {
  return words.startsWith('the ') ? `T${words.slice(1)}` : words;
}
