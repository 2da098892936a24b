// The one place that reads failures of Ollama's own API: `{"error": "…"}` with a status, or the bare sentence inside a stream.
// Source: Ollama API documentation and server sentences; the API has no error codes.

import type { AppError } from '../../contracts/errors.ts';
import { isTooLong } from './too-long.ts';
import { createFailure, readVendorError, type FailureCode, type VendorFailure } from './vendor-failure.ts';

export function mapOllamaFailure(failure: VendorFailure): AppError {
  const { message } = readVendorError(failure.body);
  const code = codeOf(failure.status, message);
  return createFailure(code, failure, message, code === 'model_unknown' ? `Fetch it with: ollama pull ${failure.modelId}` : undefined);
}

function codeOf(status: number, message: string): FailureCode {
  if (status === 404 || /^model .*not found/i.test(message)) return 'model_unknown';
  if (status === 401 || status === 403) return 'model_auth';
  if (status === 402) return 'model_quota';
  if (status === 429) return 'model_rate_limited';
  if (isTooLong(message)) return 'model_context_overflow';
  if (status >= 400 && status < 500) return 'model_rejected';
  return 'model_unavailable';
}
