// How each vendor refuses a request: status, headers and body.

import type { WireFormat } from './scripted-model-requests.ts';

export type RefusalKind =
  | 'unauthorized'
  | 'rate-limited'
  | 'quota'
  | 'server-error'
  | 'overloaded'
  | 'context-overflow'
  | 'unknown-model'
  | 'rejected';

export interface Refusal {
  readonly refuse: RefusalKind;
  /** The `retry-after` header, in seconds. */
  readonly retryAfterSeconds?: number;
  readonly message?: string;
}

interface Form {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
}

const openAi: Readonly<Record<RefusalKind, Form>> = {
  unauthorized: { status: 401, type: 'invalid_request_error', code: 'invalid_api_key', message: 'Incorrect API key provided.' },
  'rate-limited': { status: 429, type: 'requests', code: 'rate_limit_exceeded', message: 'Rate limit reached for requests.' },
  quota: { status: 429, type: 'insufficient_quota', code: 'insufficient_quota', message: 'You exceeded your current quota.' },
  'server-error': {
    status: 500,
    type: 'server_error',
    code: null,
    message: 'The server had an error while processing your request.',
  },
  overloaded: { status: 503, type: 'server_error', code: null, message: 'The engine is currently overloaded, please try again later.' },
  'context-overflow': {
    status: 400,
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
    message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
  },
  'unknown-model': { status: 404, type: 'invalid_request_error', code: 'model_not_found', message: 'The model does not exist.' },
  rejected: { status: 400, type: 'invalid_request_error', code: null, message: 'Invalid request.' },
};

const anthropic: Readonly<Record<RefusalKind, Form>> = {
  unauthorized: { status: 401, type: 'authentication_error', code: null, message: 'invalid x-api-key' },
  'rate-limited': { status: 429, type: 'rate_limit_error', code: null, message: 'This request would exceed your rate limit.' },
  quota: { status: 400, type: 'invalid_request_error', code: null, message: 'Your credit balance is too low to access the API.' },
  'server-error': { status: 500, type: 'api_error', code: null, message: 'Internal server error' },
  overloaded: { status: 529, type: 'overloaded_error', code: null, message: 'Overloaded' },
  'context-overflow': {
    status: 400,
    type: 'invalid_request_error',
    code: null,
    message: 'prompt is too long: 209001 tokens > 200000 maximum',
  },
  'unknown-model': { status: 404, type: 'not_found_error', code: null, message: 'model: scripted' },
  rejected: { status: 400, type: 'invalid_request_error', code: null, message: 'Invalid request.' },
};

const ollama: Readonly<Record<RefusalKind, Pick<Form, 'status' | 'message'>>> = {
  unauthorized: { status: 401, message: 'unauthorized' },
  'rate-limited': { status: 429, message: 'too many requests' },
  quota: { status: 402, message: 'payment required' },
  'server-error': { status: 500, message: 'llama runner process has terminated' },
  overloaded: { status: 503, message: 'server busy, please try again. maximum pending requests exceeded' },
  'context-overflow': { status: 400, message: 'the input length exceeds the context length' },
  'unknown-model': { status: 404, message: 'model "scripted" not found' },
  rejected: { status: 400, message: 'invalid request' },
};

export function encodeRefusal(
  format: WireFormat,
  refusal: Refusal,
): { status: number; headers: Readonly<Record<string, string>>; body: string } {
  const { status } =
    format === 'ollama' ? ollama[refusal.refuse] : format === 'anthropic' ? anthropic[refusal.refuse] : openAi[refusal.refuse];
  const retry = refusal.retryAfterSeconds === undefined ? {} : { 'retry-after': String(refusal.retryAfterSeconds) };
  return {
    status,
    headers: { 'content-type': 'application/json', ...retry },
    body: JSON.stringify(errorDocument(format, refusal.refuse, refusal.message)),
  };
}

/** The vendor's error object, as a body or inside a stream. */
export function errorDocument(format: WireFormat, kind: RefusalKind, said?: string): unknown {
  if (format === 'ollama') return { error: said ?? ollama[kind].message };
  if (format === 'anthropic') {
    const { type, message } = anthropic[kind];
    return { type: 'error', error: { type, message: said ?? message }, request_id: 'req_scripted' };
  }
  const { type, code, message } = openAi[kind];
  return { error: { message: said ?? message, type, param: null, code } };
}
