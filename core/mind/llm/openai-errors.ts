// The one place that reads failures of the OpenAI wire format, from the vendor and from servers that imitate it. Sources: OpenAI API error
// codes; llama.cpp server (exceed_context_size_error); vLLM, LM Studio and gateways as observed.

import type { AppError } from '../../contracts/errors.ts';
import { saysNoTools } from './refused-words.ts';
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

const byCode: Readonly<Record<string, FailureCode>> = {
  invalid_api_key: 'model_auth',
  invalid_authentication: 'model_auth',
  insufficient_quota: 'model_quota',
  billing_hard_limit_reached: 'model_quota',
  billing_not_active: 'model_quota',
  rate_limit_exceeded: 'model_rate_limited',
  rate_limit_error: 'model_rate_limited',
  context_length_exceeded: 'model_context_overflow',
  exceed_context_size_error: 'model_context_overflow',
  request_too_large: 'model_context_overflow',
  content_filter: 'model_rejected',
  unsupported_country_region_territory: 'model_rejected',
  model_not_found: 'model_unknown',
  authentication_error: 'model_auth',
  permission_error: 'model_auth',
  server_error: 'model_unavailable',
  unavailable_error: 'model_unavailable',
  overloaded_error: 'model_unavailable',
  // Google's names, also used by its OpenAI-format endpoint.
  RESOURCE_EXHAUSTED: 'model_rate_limited',
  UNAUTHENTICATED: 'model_auth',
  PERMISSION_DENIED: 'model_auth',
  UNAVAILABLE: 'model_unavailable',
  DEADLINE_EXCEEDED: 'model_timeout',
  // Groq: the model's call does not match the tools; the next attempt usually succeeds.
  tool_use_failed: 'model_bad_reply',
};

/** The codes of Azure's filter and OpenAI's: content_policy_violation, bio_policy, image_content_policy_violation. */
const refusalCodes = /^content_filter$|_policy(?:_violation)?$/;
const refusalSentence = /flagged as potentially violating our usage policy/i;

/** Codes that blame the request, even inside a stream, where there is no status: asking again would not help. */
const requestCodes = /^invalid_prompt$|^data_residency_mismatch$|_policy(?:_violation)?$|image/;

const missingModelSentences = /model .*(not found|does not exist|not loaded)|no (such )?models? (loaded|found)/i;

export interface OpenAiFailureOptions {
  /** The server refuses a request that is too long with a status and an empty body. */
  readonly emptyRefusalIsTooLong: boolean;
}

export function mapOpenAiFailure(failure: VendorFailure, options?: OpenAiFailureOptions): AppError {
  const { type, code, message } = readVendorError(failure.body);
  const status = failure.status >= 400 ? failure.status : Number.parseInt(code, 10) || failure.status;
  const isSilent = options?.emptyRefusalIsTooLong === true && status === 400 && failure.body === '';
  const found = isSilent ? 'model_context_overflow' : codeOf({ type, code, message }, status);
  const hint =
    found === 'model_unknown' && !missingModelSentences.test(message) && code !== 'model_not_found'
      ? 'Check the model name and the baseUrl of this provider; it usually ends in /v1.'
      : undefined;
  const isRefusal = [code, type].some((one) => refusalCodes.test(one)) || refusalSentence.test(message);
  return createFailure(found, isRefusal ? { ...failure, isRefusal } : failure, message, hint);
}

function codeOf({ type, code, message }: VendorError, status: number): FailureCode {
  // llama-server reports template errors with status 500; repeating the same request would not help.
  if (status < 501 && saysNoTools(message)) return 'model_rejected';
  if (spentCodes.test(code)) return 'model_quota';
  return byCode[code] ?? byCode[type] ?? byStatusOrWords(requestCodes.test(code) ? 400 : status, message);
}

function byStatusOrWords(status: number, message: string): FailureCode {
  // In a stream or a 200 body the status is meaningless.
  const isVague = status === 400 || status === 422 || status === 500 || status < 300;
  if (isVague && isTooLong(message)) return 'model_context_overflow';
  if (isVague && missingModelSentences.test(message)) return 'model_unknown';
  return status === 409 || status === 425 ? 'model_unavailable' : byStatus(status);
}
