// Formats errors as clients of OpenAI's API expect them: `{error: {message, type, param, code}}`, and the HTTP status that their libraries
// turn into an exception class.

import { refusalHeaders } from '../../contracts/door-route.ts';
import { AppError, type ErrorCode } from '../../contracts/errors.ts';

export interface VendorError {
  readonly status: number;
  readonly body: {
    readonly error: { readonly message: string; readonly type: string; readonly param: string | null; readonly code: string | null };
  };
  readonly headers: Readonly<Record<string, string>>;
}

interface Kind {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
}

const bad: Kind = { status: 400, type: 'invalid_request_error', code: null };
const busy: Kind = { status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' };
const down: Kind = { status: 503, type: 'server_error', code: null };
const model: Kind = { status: 502, type: 'server_error', code: null };

const kinds: Partial<Record<ErrorCode, Kind>> = {
  invalid_params: bad,
  invalid_arguments: bad,
  arguments_too_large: bad,
  payload_too_large: { ...bad, status: 413 },
  model_context_overflow: { ...bad, code: 'context_length_exceeded' },
  unauthorized: { status: 401, type: 'invalid_request_error', code: 'invalid_api_key' },
  forbidden: { status: 403, type: 'permission_error', code: 'permission_denied' },
  denied: { status: 403, type: 'permission_error', code: 'approval_required' },
  not_found: { status: 404, type: 'invalid_request_error', code: 'not_found' },
  model_unknown: { status: 404, type: 'invalid_request_error', code: 'model_not_found' },
  no_model: { status: 404, type: 'invalid_request_error', code: 'model_not_found' },
  rate_limited: busy,
  queue_full: busy,
  model_rate_limited: busy,
  over_budget: { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' },
  model_quota: { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' },
  panic_engaged: { ...down, code: 'panic_engaged' },
  shutting_down: down,
  store_locked: down,
  model_timeout: { ...model, status: 504 },
  model_auth: model,
  model_unavailable: model,
  model_bad_reply: model,
  model_cut_off: model,
  model_rejected: { ...bad, code: 'model_rejected' },
};

const wrongMethod: Kind = { ...bad, status: 405, code: 'method_not_supported' };

/** Fails for a method that the address does not take; a HEAD is a GET without its body. */
export function assertMethod(method: string, wanted: 'GET' | 'POST'): void {
  if (method === wanted || (method === 'HEAD' && wanted === 'GET')) return;
  throw new AppError('invalid_params', `This address answers ${wanted} only.`, { data: { allow: wanted } });
}

/** The error of a request that has done nothing yet. Client libraries may repeat it if the status allows that. */
export function vendorError(error: AppError): VendorError {
  const { param, allow } = error.data;
  const found = kinds[error.code] ?? { status: 500, type: 'server_error', code: null };
  const { status, type, code } = typeof allow === 'string' ? wrongMethod : found;
  const again: Readonly<Record<string, string>> = status >= 500 && !error.isRetryable ? { 'x-should-retry': 'false' } : {};
  const told = { message: error.told(), type, param: typeof param === 'string' && param !== '' ? param : null, code: code ?? error.code };
  return {
    status,
    body: { error: told },
    headers: { ...refusalHeaders(error), ...again, ...(typeof allow === 'string' ? { allow } : {}) },
  };
}

/**
 * The error of a turn that did not succeed. Client libraries retry requests on 408, 409, 429 and 5xx. A turn must not be repeated, so none
 * of these statuses is used.
 */
export function turnError(error: AppError): VendorError {
  const { body } = vendorError(error);
  const status = error.code === 'denied' ? 403 : error.code === 'over_budget' ? 402 : 422;
  return { status, body, headers: { 'x-should-retry': 'false' } };
}
