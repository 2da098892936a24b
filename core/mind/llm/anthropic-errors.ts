// The one place that reads failures of the Anthropic messages format: HTTP bodies and `error` events inside a stream.
// Source: Anthropic API errors, version 2023-06-01.

import type { AppError } from '../../contracts/errors.ts';
import { isTooLong } from './too-long.ts';
import {
  byStatus,
  createFailure,
  readVendorError,
  spentCodes,
  type FailureCode,
  type VendorError,
  type VendorFailure,
} from './vendor-failure.ts';

const byType: Readonly<Record<string, FailureCode>> = {
  authentication_error: 'model_auth',
  permission_error: 'model_auth',
  billing_error: 'model_quota',
  invalid_request_error: 'model_rejected',
  not_found_error: 'model_unknown',
  request_too_large: 'model_context_overflow',
  rate_limit_error: 'model_rate_limited',
  timeout_error: 'model_timeout',
  overloaded_error: 'model_unavailable',
  api_error: 'model_unavailable',
};

const creditSentences =
  /credit balance is too low|usage limits? (reached|exceeded)|(reached|exceeded) your .{0,30}(usage|spend(ing)?) limits?/i;

const filterSentence = /blocked by content filter/i;

export function mapAnthropicFailure(failure: VendorFailure): AppError {
  const said = readVendorError(failure.body);
  const { type, message } = said;
  const code = codeOf(said, failure.status);
  const isRefusal = code === 'model_rejected' && filterSentence.test(message);
  // The vendor names the thing it does not know. Any other 404 comes from an address that is not the vendor's.
  const hint = code === 'model_unknown' && type === '' ? 'Check the model name, and the baseUrl and kind of this provider.' : undefined;
  return createFailure(code, isRefusal ? { ...failure, isRefusal } : failure, message, hint);
}

function codeOf({ type, code, message }: VendorError, status: number): FailureCode {
  if (type === 'invalid_request_error' || type === '') {
    if (isTooLong(message)) return 'model_context_overflow';
  }
  // A spend cap also has status 429, like a rate limit, but waiting does not help.
  if (spentCodes.test(code) || (status < 500 && creditSentences.test(message))) return 'model_quota';
  return byType[type] ?? byStatus(status);
}
