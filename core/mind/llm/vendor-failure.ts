// What all vendors' error files share: the facts of one failure, plain sentences per code, and the promise that no key leaves in a message.
// Must not decide which code a vendor's answer means.

import type { IncomingHttpHeaders } from 'node:http';
import { isPlainObject } from '../../base/json.ts';
import { AppError, type ErrorCode } from '../../contracts/errors.ts';

const SAID_CHARS_MAX = 300;
const SECRET_CHARS_MIN = 6;

export interface VendorFailure {
  readonly provider: string;
  readonly modelId: string;
  /** HTTP status; 200 when the failure came inside a stream. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The parsed body, or its text. */
  readonly body: unknown;
  /** Values that must never show: the key, header values from config. */
  readonly secrets: readonly string[];
  readonly nowMs: number;
}

export type FailureCode = Extract<
  ErrorCode,
  | 'model_auth'
  | 'model_quota'
  | 'model_rate_limited'
  | 'model_context_overflow'
  | 'model_unknown'
  | 'model_rejected'
  | 'model_unavailable'
  | 'model_timeout'
>;

const retryable: ReadonlySet<FailureCode> = new Set<FailureCode>(['model_rate_limited', 'model_unavailable', 'model_timeout']);

const sentences: Readonly<Record<FailureCode, (provider: string, modelId: string) => string>> = {
  model_auth: (provider) => `${provider} did not accept the key.`,
  model_quota: (provider) => `The account at ${provider} has no credit or quota left.`,
  model_rate_limited: (provider) => `${provider} asks to slow down.`,
  model_context_overflow: (provider, modelId) => `The conversation is longer than ${provider}/${modelId} can read.`,
  model_unknown: (provider, modelId) => `${provider} does not know the model "${modelId}".`,
  model_rejected: (provider) => `${provider} refused the request.`,
  model_unavailable: (provider) => `${provider} cannot answer at the moment.`,
  model_timeout: (provider) => `${provider} gave up waiting for its own model.`,
};

/** Builds the error a person reads. `said` is the vendor's own sentence; it is cut, and never shown for `model_auth`. */
export function createFailure(code: FailureCode, failure: VendorFailure, said: string | null, hint?: string): AppError {
  const quote = said === null || said === '' || code === 'model_auth' ? '' : ` It says: ${withoutSecrets(said, failure.secrets)}`;
  const retryAfterMs = readRetryAfterMs(failure.headers, failure.nowMs);
  return new AppError(code, sentences[code](failure.provider, failure.modelId) + quote, {
    isRetryable: retryable.has(code),
    data: {
      provider: failure.provider,
      status: failure.status,
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
      ...(code === 'model_context_overflow' ? statedLimit(failure.body, said ?? '') : {}),
      ...(hint === undefined ? {} : { hint }),
    },
  });
}

/** How much the server takes, where it says so. */
function statedLimit(body: unknown, said: string): { readonly limitTokens?: number } {
  const inner = isPlainObject(body) && isPlainObject(body['error']) ? body['error'] : body;
  const field = isPlainObject(inner) ? inner['n_ctx'] : undefined;
  const words = limitSentences.map((pattern) => pattern.exec(said)?.[1]).find((found) => found !== undefined);
  const limit = typeof field === 'number' ? field : Number(words?.replaceAll(',', '') ?? Number.NaN);
  return Number.isInteger(limit) && limit >= LIMIT_TOKENS_MIN && limit <= LIMIT_TOKENS_MAX ? { limitTokens: limit } : {};
}

const LIMIT_TOKENS_MIN = 256;
const LIMIT_TOKENS_MAX = 20_000_000;
const limitSentences: readonly RegExp[] = [
  /maximum context length (?:is|of) ([\d,]+)/i,
  /tokens? > ([\d,]+) maximum/i,
  /context (?:size|window|length)\D{0,24}?([\d,]+)/i,
];

/** The fields vendors use, wherever they put them: `{error: {…}}`, `{error: "…"}`, `{message}`, or plain text. */
export function readVendorError(body: unknown): { type: string; code: string; message: string } {
  if (typeof body === 'string') return { type: '', code: '', message: looksLikeHtml(body) ? '' : body.trim() };
  if (!isPlainObject(body)) return { type: '', code: '', message: '' };
  const inner = body['error'];
  if (typeof inner === 'string') return { type: text(body['type']), code: text(body['code']), message: inner };
  const source = isPlainObject(inner) ? inner : body;
  return { type: text(source['type']), code: text(source['code']), message: text(source['message'] ?? source['detail']) };
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date (RFC 9110 §10.2.3). Null when absent or unreadable. */
export function readRetryAfterMs(headers: IncomingHttpHeaders, nowMs: number): number | null {
  const milliseconds = Number.parseFloat(text(headers['retry-after-ms']));
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return Math.ceil(milliseconds);
  const given = text(headers['retry-after']).trim();
  if (given === '') return null;
  const seconds = Number(given);
  if (Number.isFinite(seconds)) return seconds >= 0 ? Math.ceil(seconds * 1000) : null;
  const dateMs = Date.parse(given);
  return Number.isNaN(dateMs) ? null : Math.max(0, dateMs - nowMs);
}

function withoutSecrets(said: string, secrets: readonly string[]): string {
  let clean = said.replace(/\s+/g, ' ');
  for (const secret of secrets) {
    if (secret.length >= SECRET_CHARS_MIN) clean = clean.replaceAll(secret, '[key removed]');
  }
  return clean.length > SAID_CHARS_MAX ? clean.slice(0, SAID_CHARS_MAX) + '…' : clean;
}

function looksLikeHtml(body: string): boolean {
  return /^\s*<(!doctype|html|head|body)/i.test(body);
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : '';
}
