// The one place that maps errors of sockets and of the HTTP client to model errors, by error code and never by text.

import { AppError } from '../../contracts/errors.ts';

const CAUSE_DEPTH_MAX = 6;

const refusedCodes = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN']);
const nameCodes = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA']);
const timeoutCodes = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);

export interface NetworkContext {
  /** The person's name for this provider. */
  readonly provider: string;
  /** Scheme, host and port; shown to the person. */
  readonly origin: string;
  /** True once the head of the answer has arrived: a lost connection is then a cut-off, not an absent server. */
  readonly hasAnswered: boolean;
}

export function mapNetworkError(cause: unknown, context: NetworkContext): AppError {
  const code = findCode(cause);
  const { provider, origin } = context;
  const data = { provider, ...(code === null ? {} : { networkCode: code }) };
  if (context.hasAnswered) {
    return new AppError('model_cut_off', `${provider} broke off in the middle of its answer.`, { data, cause, isRetryable: true });
  }
  if (code !== null && (code.startsWith('UND_ERR_INVALID') || code === 'ERR_INVALID_CHAR')) {
    const hint =
      'Copy the key again: it is one word, without spaces, line breaks or signs that stand for the rest. Nothing else was changed.';
    return new AppError('invalid_config', `The address, key or headers of ${provider} cannot be sent over HTTP.`, { data, hint, cause });
  }
  if (code !== null && timeoutCodes.has(code)) {
    return new AppError('model_timeout', `Could not connect to ${provider} at ${origin} in time.`, { data, cause, isRetryable: true });
  }
  if (code !== null && isCertificateCode(code)) {
    return new AppError('model_unavailable', `The certificate of ${provider} at ${origin} cannot be trusted (${code}).`, {
      data,
      hint: 'Check baseUrl, the clock of this machine and any proxy in between.',
      cause,
    });
  }
  return new AppError('model_unavailable', unavailableSentence(code, provider, origin), { data, cause, isRetryable: true });
}

function unavailableSentence(code: string | null, provider: string, origin: string): string {
  if (code !== null && refusedCodes.has(code)) return `Nothing answers at ${origin} (${provider}).`;
  if (code !== null && nameCodes.has(code)) return `The host name of ${provider} (${origin}) cannot be found.`;
  return `The connection to ${provider} at ${origin} failed${code === null ? '' : ` (${code})`}.`;
}

function isCertificateCode(code: string): boolean {
  return code.startsWith('CERT_') || code.startsWith('ERR_TLS_') || code.startsWith('UNABLE_TO_') || code.includes('SELF_SIGNED');
}

/** Returns the first `code` in the chain of causes: fetch wraps the socket's error, which wraps one error per address. */
function findCode(cause: unknown, depth = 0): string | null {
  if (depth > CAUSE_DEPTH_MAX || typeof cause !== 'object' || cause === null) return null;
  if ('code' in cause && typeof cause.code === 'string') return cause.code;
  if (cause instanceof AggregateError) {
    for (const part of cause.errors) {
      const code = findCode(part, depth + 1);
      if (code !== null) return code;
    }
  }
  return 'cause' in cause ? findCode(cause.cause, depth + 1) : null;
}
