// The common part of all vendors' error files: the facts of one failure, plain sentences per code, and the guarantee that no message
// contains a key. Must not decide which code a vendor's answer means.

import type { IncomingHttpHeaders } from 'node:http';
import { isPlainObject, parseJson } from '../../base/json.ts';
import { AppError, type ErrorCode } from '../../contracts/errors.ts';
import { refusedWords } from './refused-words.ts';
import { readRetryAfterMs } from './retry-after.ts';
import { WAIT_MS_MAX } from './retry-policy.ts';
import { statedSizes } from './too-long.ts';

const SAID_CHARS_MAX = 300;
const SECRET_CHARS_MIN = 6;
const ERROR_DEPTH_MAX = 4;
const FIELDS_MAX = 8;

export interface VendorFailure {
  readonly provider: string;
  readonly modelId: string;
  /** The HTTP status; 200 if the failure arrived inside a stream. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The parsed body, or its text. */
  readonly body: unknown;
  /** Values that must never be shown: the key, header values from config. */
  readonly secrets: readonly string[];
  readonly nowMs: number;
  /** True if the vendor's filter refused the content itself: asking another model would only circumvent it. */
  readonly isRefusal?: boolean;
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
  | 'model_bad_reply'
>;

const retryable: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'model_rate_limited',
  'model_unavailable',
  'model_timeout',
  'model_bad_reply',
]);

const sentences: Readonly<Record<FailureCode, (provider: string, modelId: string) => string>> = {
  model_auth: (provider) => `${provider} did not accept the key.`,
  model_quota: (provider) => `The account at ${provider} has no credit or quota left.`,
  model_rate_limited: (provider) => `${provider} asks to slow down.`,
  model_context_overflow: (provider, modelId) => `The conversation is longer than ${provider}/${modelId} can read.`,
  model_unknown: (provider, modelId) => `${provider} does not know the model "${modelId}".`,
  model_rejected: (provider) => `${provider} refused the request.`,
  model_unavailable: (provider) => `${provider} cannot answer at the moment.`,
  model_bad_reply: (provider) => `${provider} could not use what its own model wrote.`,
  model_timeout: (provider) => `${provider} gave up waiting for its own model.`,
};

const statusCodes: Readonly<Record<number, FailureCode>> = {
  401: 'model_auth',
  402: 'model_quota',
  403: 'model_auth',
  404: 'model_unknown',
  408: 'model_timeout',
  413: 'model_context_overflow',
  429: 'model_rate_limited',
  504: 'model_timeout',
};

/** The code that follows from the status alone. A failure inside a stream has the status 200: the server failed after it had begun. */
export function byStatus(status: number): FailureCode {
  return statusCodes[status] ?? (status >= 500 || status < 300 ? 'model_unavailable' : 'model_rejected');
}

/** Builds the error a person reads. `said` is the vendor's own message; it is truncated, and never shown for `model_auth`. */
export function createFailure(code: FailureCode, failure: VendorFailure, said: string | null, hint?: string): AppError {
  const { provider, status, secrets } = failure;
  const elsewhere = leadsElsewhere(failure) ?? (code === 'model_auth' && status === 403 ? pageIn(failure) : null);
  if (elsewhere !== null) return new AppError('model_rejected', elsewhere, { data: { provider, status }, hint: elsewhereHint });
  const words = said ?? '';
  const quote = words === '' || code === 'model_auth' ? '' : ` It says: ${asSentence(withoutSecrets(words, secrets))}`;
  const retryAfterMs = readRetryAfterMs(failure.headers, failure.nowMs, failure.body);
  return new AppError(code, sentenceOf(code, failure, words) + quote, {
    isRetryable: retryable.has(code),
    data: {
      provider,
      status,
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
      ...(code === 'model_context_overflow' ? statedSizes(failure.body, words) : {}),
      ...(code === 'model_rejected' ? refused(words) : {}),
      ...(failure.isRefusal === true ? { refusal: true } : {}),
    },
    hint: hint ?? longWaitHint(code, retryAfterMs) ?? otherHint(code, failure, words),
  });
}

/** Flaws of a key that vendors report. Their own sentences repeat parts of the key, so ours take their place. */
const keyFlaws: readonly { readonly words: RegExp; readonly flaw: string; readonly hint: string }[] = [
  { words: /\bexpired\b/i, flaw: 'the key has expired', hint: 'Make a new key there, and enter it in place of this one.' },
  {
    words: /deactivated|disabled|suspended|revoked/i,
    flaw: 'the key or its account is disabled',
    hint: 'Look at the account there, or use another key.',
  },
  {
    words: /missing scopes|insufficient permissions/i,
    flaw: 'the key lacks a permission for this',
    hint: 'Give the key that permission there, or use another key.',
  },
];
const closedModel = /must be verified to use|do(?:es)? not have access to (?:the )?model/i;

function flawOfKey(code: FailureCode, said: string): (typeof keyFlaws)[number] | undefined {
  return code === 'model_auth' ? keyFlaws.find(({ words }) => words.test(said)) : undefined;
}

function sentenceOf(code: FailureCode, { provider, modelId }: VendorFailure, said: string): string {
  const ofKey = flawOfKey(code, said);
  if (ofKey !== undefined) return `${provider} says that ${ofKey.flaw}.`;
  if (code === 'model_unknown' && closedModel.test(said)) return `${provider} does not let this account use the model "${modelId}".`;
  return sentences[code](provider, modelId);
}

const refusalHint = 'Say it in other words, or choose another model for this message.';

export const elsewhereHint = 'Check the baseUrl of this provider, and whether a sign-in page or a proxy is in between.';

/** Describes a redirect, which is not followed: the key and the conversation are sent only to the address in the settings. */
function leadsElsewhere({ provider, status, headers, secrets }: VendorFailure): string | null {
  if (status < 300 || status > 399) return null;
  const to = text(headers.location);
  return `${provider} sends to another address${to === '' ? '' : `, ${withoutSecrets(to, secrets)}`}; that is not followed.`;
}

function pageIn({ provider, body }: VendorFailure): string | null {
  return typeof body === 'string' && isWebPage(body) ? `A web page answers in place of ${provider}.` : null;
}

/** The program does not wait that long, so the hint says how long to wait. */
function longWaitHint(code: FailureCode, retryAfterMs: number | null): string | undefined {
  if (!retryable.has(code) || retryAfterMs === null || retryAfterMs <= WAIT_MS_MAX) return undefined;
  return `It asks to be left alone for ${roughly(retryAfterMs)}. Try again then, or choose another model; the conversation is kept.`;
}

/** `16 minutes`, `3 hours`, `12 days`: rounded up. */
function roughly(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  if (minutes < 120) return `${minutes} minutes`;
  return minutes < 48 * 60 ? `${Math.ceil(minutes / 60)} hours` : `${Math.ceil(minutes / (24 * 60))} days`;
}

/** Messages of a server that is out of memory: retrying does not help. */
const memorySentences = /out of memory|\bOOM\b|requires more (system )?memory|(cuda|metal|ggml)\S* .{0,40}alloc/i;

function otherHint(code: FailureCode, { isRefusal }: VendorFailure, said: string): string | undefined {
  if (isRefusal === true) return refusalHint;
  const ofKey = flawOfKey(code, said);
  if (ofKey !== undefined) return ofKey.hint;
  if (code !== 'model_unavailable' || !memorySentences.test(said)) return undefined;
  return 'Its computer has too little memory: load a smaller model there, or give it a smaller window (contextTokens of its provider).';
}

function refused(said: string): { readonly refusedWords?: readonly string[] } {
  const words = refusedWords(said);
  return words.length === 0 ? {} : { refusedWords: words };
}

/** Codes of OpenAI (`code`) and Anthropic (`details.error_code`) for an account without money, despite the status of a rate limit. */
export const spentCodes = /^(?:credit_balance_exhausted|\w+_(?:spend|usage)_limit_(?:exceeded|reached))$/;

export interface VendorError {
  readonly type: string;
  readonly code: string;
  readonly message: string;
}

/**
 * Reads the vendors' error fields in any of their forms: `{error: {…}}`, `[{error: {…}}]`, `{error: "…"}`, `{message}`, `{detail}`, or
 * plain text.
 */
export function readVendorError(body: unknown): VendorError {
  if (Array.isArray(body)) return readVendorError((body as unknown[])[0]);
  if (typeof body === 'string') return { type: '', code: '', message: isWebPage(body) ? '' : body.trim() };
  if (!isPlainObject(body)) return { type: '', code: '', message: '' };
  const inner = body['error'];
  if (typeof inner === 'string') return { type: text(body['type']), code: text(body['code']), message: inner };
  if (Array.isArray(inner)) return readVendorError((inner as unknown[])[0]);
  const source = isPlainObject(inner) ? inner : body;
  // Google: the name of the error is in `status`, `code` repeats the HTTP status. Groq names the status inside a stream.
  const type = text(source['type']) || (typeof source['status'] === 'string' ? source['status'] : '');
  const { details } = source;
  const code = text(source['code']) || text(source['status_code']) || (isPlainObject(details) ? text(details['error_code']) : '');
  return { type, code, message: messageOf(source) };
}

/** Prefers the message of the server behind a gateway, which says more than the gateway's own. */
function messageOf(source: Record<string, unknown>): string {
  const said = inSentence(source['message'] ?? source['detail'] ?? source['error']);
  const { metadata } = source;
  const raw = isPlainObject(metadata) ? text(metadata['raw']) : '';
  if (raw === '') return said;
  const parsed = parseJson(raw);
  const behind = parsed.ok ? readVendorError(parsed.value).message : isWebPage(raw) ? '' : raw;
  return behind === '' ? said : `${said}: ${behind}`;
}

/** Reads a string, a list of failed fields (`loc` and `msg`), or an object that contains either. */
function inSentence(value: unknown, depth = 0): string {
  if (typeof value === 'string' || typeof value === 'number') return text(value);
  if (depth > ERROR_DEPTH_MAX) return '';
  if (Array.isArray(value)) {
    return (value as unknown[])
      .slice(0, FIELDS_MAX)
      .map((part) => inSentence(part, depth + 1))
      .filter((part) => part !== '')
      .join('; ');
  }
  if (!isPlainObject(value)) return '';
  const { loc, msg } = value;
  if (typeof msg === 'string') return Array.isArray(loc) ? `${loc.map(String).join('.')}: ${msg}` : msg;
  return inSentence(value['message'] ?? value['detail'] ?? value['error'], depth + 1);
}

function withoutSecrets(said: string, secrets: readonly string[]): string {
  let clean = said.replace(/\s+/g, ' ');
  for (const secret of secrets) {
    if (secret.length >= SECRET_CHARS_MIN) clean = clean.replaceAll(secret, '[key removed]');
  }
  return clean.length > SAID_CHARS_MAX ? clean.slice(0, SAID_CHARS_MAX) + '…' : clean;
}

/** A hint follows in the same line, so the quote needs an end. */
function asSentence(said: string): string {
  return /[.!?…]["')]? ?$/.test(said) ? said.trimEnd() : `${said.trimEnd()}.`;
}

export function isWebPage(body: string): boolean {
  return /^\s*<(!doctype|html|head|body)/i.test(body);
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : '';
}
