// Turns any failure of a request into an AppError with a readable message. The only module that knows the error codes of sockets, TLS and
// the HTTP client.

import { AppError, isAppError } from '../../contracts/errors.ts';

const byCode: Readonly<Record<string, readonly [what: string, isRetryable: boolean]>> = {
  ECONNREFUSED: ['refused the connection', true],
  ECONNRESET: ['closed the connection', true],
  EPIPE: ['closed the connection', true],
  UND_ERR_SOCKET: ['closed the connection', true],
  EHOSTUNREACH: ['cannot be reached from here', true],
  ENETUNREACH: ['cannot be reached from here', true],
  EADDRNOTAVAIL: ['cannot be reached from here', true],
  ETIMEDOUT: ['did not answer', true],
  UND_ERR_HEADERS_OVERFLOW: ['sent more headers than are read', false],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['sent another length than it announced', false],
  Z_DATA_ERROR: ['sent a damaged answer', false],
  Z_BUF_ERROR: ['sent a damaged answer', false],
};

/** `host` appears in the message. The signal distinguishes a failure from a cancellation. */
export function mapFailure(cause: unknown, host: string, signal: AbortSignal): AppError {
  if (isAppError(cause)) return cause;
  if (signal.aborted) return abortError(signal);
  const code = codeOf(cause);
  const known = byCode[code];
  if (known !== undefined) return failure(`${host} ${known[0]}.`, { code, isRetryable: known[1], cause });
  if (code.startsWith('HPE_') || code === 'UND_ERR_INVALID_ARG') return failure(`${host} did not answer in valid HTTP.`, { code, cause });
  if (/CERT|SELF_SIGNED|ISSUER|LEAF_SIGNATURE/.test(code))
    return failure(`The certificate of ${host} is not valid (${code}).`, { code, cause });
  if (/SSL|TLS|EPROTO/.test(code)) return failure(`No secure connection to ${host} could be made (${code}).`, { code, cause });
  if (code.startsWith('ERR__ERROR_FORMAT')) return failure(`${host} sent a damaged answer.`, { code, cause });
  return failure(`${host} could not be reached${code === '' ? '' : ` (${code})`}.`, { code, isRetryable: true, cause });
}

/** Returns the signal's reason if it is an AppError, otherwise `cancelled`. */
export function abortError(signal: AbortSignal): AppError {
  const reason: unknown = signal.reason;
  return isAppError(reason) ? reason : new AppError('cancelled', 'The request was stopped.');
}

export function timeoutError(host: string, what: string, ms: number): AppError {
  return failure(`${host} ${what} within ${ms < 1000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`}.`, {
    code: 'timeout',
    isRetryable: true,
  });
}

export function failure(message: string, about: { code: string; isRetryable?: boolean; cause?: unknown }): AppError {
  const { code, isRetryable = false, cause } = about;
  return new AppError('fetch_failed', message, { data: { reason: code }, isRetryable, ...(cause === undefined ? {} : { cause }) });
}

function codeOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return codeOf(cause.errors[0]);
  // In some versions, errors of the HTTP parser have no code.
  if (cause instanceof Error && cause.name === 'HTTPParserError') return 'HPE_INVALID';
  const code = (cause as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}
