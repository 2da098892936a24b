// Maps error codes to HTTP statuses. Clients branch on the code in the body; the status is for everything in between.

import type { ErrorCode } from './errors.ts';

const statuses: Partial<Record<ErrorCode, number>> = {
  invalid_params: 400,
  invalid_config: 400,
  invalid_arguments: 400,
  unauthorized: 401,
  over_budget: 402,
  forbidden: 403,
  denied: 403,
  address_refused: 403,
  unknown_op: 404,
  unknown_tool: 404,
  not_found: 404,
  artifact_missing: 404,
  model_unknown: 404,
  secret_missing: 404,
  keychain_unavailable: 503,
  vault_locked: 423,
  conflict: 409,
  approval_not_pending: 409,
  turn_not_running: 409,
  no_model: 409,
  cancelled: 409,
  arguments_too_large: 413,
  payload_too_large: 413,
  panic_engaged: 423,
  queue_full: 429,
  rate_limited: 429,
  model_rate_limited: 429,
  fetch_failed: 502,
  model_auth: 502,
  model_quota: 502,
  model_unavailable: 502,
  model_bad_reply: 502,
  model_cut_off: 502,
  model_rejected: 502,
  model_timeout: 504,
  sandbox_unavailable: 503,
  shutting_down: 503,
  store_locked: 503,
  store_readonly: 503,
  store_full: 507,
};

export function statusOf(code: ErrorCode): number {
  return statuses[code] ?? 500;
}
