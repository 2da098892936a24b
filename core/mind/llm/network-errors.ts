// The one place that maps failed connections to model errors, by error code and never by text.

import { networkCode, networkFailure, networkSentence } from '../../base/network-failure.ts';
import { AppError } from '../../contracts/errors.ts';

export interface NetworkContext {
  /** The person's name for this provider. */
  readonly provider: string;
  /** Scheme, host and port; shown to the person. */
  readonly origin: string;
  /** True once the head of the answer has arrived: a lost connection is then a cut-off, not an absent server. */
  readonly hasAnswered: boolean;
}

export function mapNetworkError(cause: unknown, context: NetworkContext): AppError {
  const { provider, origin } = context;
  // A proxy in between has said why.
  if (cause instanceof AppError) return new AppError('model_unavailable', cause.message, { data: { provider }, cause, hint: cause.hint });
  const code = networkCode(cause);
  const data = { provider, ...(code === null ? {} : { networkCode: code }) };
  if (context.hasAnswered) {
    return new AppError('model_cut_off', `${provider} broke off in the middle of its answer.`, { data, cause, isRetryable: true });
  }
  if (code !== null && (code.startsWith('UND_ERR_INVALID') || code === 'ERR_INVALID_CHAR')) {
    const hint =
      'Copy the key again: it is one word, without spaces, line breaks or signs that stand for the rest. Nothing else was changed.';
    return new AppError('invalid_config', `The address, key or headers of ${provider} cannot be sent over HTTP.`, { data, hint, cause });
  }
  const message = networkSentence(code, `${origin} (${provider})`);
  const kind = networkFailure(code);
  if (kind === 'timeout') return new AppError('model_timeout', message, { data, cause, isRetryable: true });
  if (kind !== 'certificate') return new AppError('model_unavailable', message, { data, cause, isRetryable: true });
  const hint = 'Check baseUrl, the clock of this machine and any proxy in between.';
  return new AppError('model_unavailable', message, { data, hint, cause });
}
