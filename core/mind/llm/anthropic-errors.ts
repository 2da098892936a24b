// The one place that reads failures of the Anthropic messages format: HTTP bodies and `error` events inside a stream.
// Source: Anthropic API errors, version 2023-06-01.

import type { AppError } from '../../contracts/errors.ts';
import { createFailure, readVendorError, type FailureCode, type VendorFailure } from './vendor-failure.ts';

const byType: Readonly<Record<string, FailureCode>> = {
  authentication_error: 'model_auth',
  permission_error: 'model_auth',
  billing_error: 'model_quota',
  not_found_error: 'model_unknown',
  request_too_large: 'model_context_overflow',
  rate_limit_error: 'model_rate_limited',
  timeout_error: 'model_timeout',
  overloaded_error: 'model_unavailable',
  api_error: 'model_unavailable',
};

const overflowSentences = /prompt is too long|exceeds? (the )?context (limit|window)|input length and .max_tokens. exceed/i;
const creditSentences = /credit balance is too low|usage limits? (reached|exceeded)/i;

export function mapAnthropicFailure(failure: VendorFailure): AppError {
  const { type, message } = readVendorError(failure.body);
  return createFailure(codeOf(type, failure.status, message), failure, message);
}

function codeOf(type: string, status: number, message: string): FailureCode {
  if (type === 'invalid_request_error' || type === '') {
    if (overflowSentences.test(message)) return 'model_context_overflow';
    if (creditSentences.test(message)) return 'model_quota';
  }
  return byType[type] ?? byStatus(status);
}

function byStatus(status: number): FailureCode {
  switch (status) {
    case 401:
    case 403:
      return 'model_auth';
    case 402:
      return 'model_quota';
    case 404:
      return 'model_unknown';
    case 408:
    case 504:
      return 'model_timeout';
    case 413:
      return 'model_context_overflow';
    case 429:
      return 'model_rate_limited';
    default:
      return status >= 500 || status < 300 ? 'model_unavailable' : 'model_rejected';
  }
}
