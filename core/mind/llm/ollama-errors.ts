// The one place that reads failures of Ollama's own API: `{"error": "…"}` with a status, or the bare sentence inside a stream.
// Source: Ollama API documentation and server sentences; the API has no error codes.

import type { AppError } from '../../contracts/errors.ts';
import { isTooLong } from './too-long.ts';
import { createFailure, readVendorError, type FailureCode, type VendorFailure } from './vendor-failure.ts';

export function mapOllamaFailure(failure: VendorFailure): AppError {
  const { message } = readVendorError(failure.body);
  const code = codeOf(failure.status, message);
  return createFailure(code, failure, message, code === 'model_unknown' ? unknownHint(failure.modelId, message) : undefined);
}

function unknownHint(modelId: string, message: string): string {
  if (missingModel.test(message)) return `Fetch it with: ollama pull ${modelId}`;
  return "Check the baseUrl and kind of this provider, and the version of Ollama: nothing at that address speaks Ollama's chat API.";
}

const missingModel = /^model .*not found/i;

function codeOf(status: number, message: string): FailureCode {
  if (status === 404 || missingModel.test(message)) return 'model_unknown';
  if (status === 401 || status === 403) return 'model_auth';
  if (status === 402) return 'model_quota';
  if (status === 429) return 'model_rate_limited';
  if (isTooLong(message)) return 'model_context_overflow';
  if (status >= 300 && status < 500) return 'model_rejected';
  return 'model_unavailable';
}
