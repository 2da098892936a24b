// Turns any failure of a request into an AppError with a readable message.

import { networkCode, networkFailure, networkSentence, type NetworkFailure } from '../../base/network-failure.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';

const transient: ReadonlySet<NetworkFailure | null> = new Set<NetworkFailure | null>([
  'refused',
  'unreachable',
  'unknown-host',
  'timeout',
  'closed',
  null,
]);

/** `host` appears in the message. The signal distinguishes a failure from a cancellation. */
export function mapFailure(cause: unknown, host: string, signal: AbortSignal): AppError {
  if (isAppError(cause)) return cause;
  if (signal.aborted) return abortError(signal);
  const found = networkCode(cause);
  // The client itself refuses to read such an answer.
  const code = found === 'UND_ERR_INVALID_ARG' ? 'HPE_INVALID' : found;
  return failure(networkSentence(code, host), { code: found ?? '', isRetryable: transient.has(networkFailure(code)), cause });
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
