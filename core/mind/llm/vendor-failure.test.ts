import { expect, test } from 'vitest';
import { mapAnthropicFailure } from './anthropic-errors.ts';
import { mapOllamaFailure } from './ollama-errors.ts';
import { mapOpenAiFailure } from './openai-errors.ts';
import { readRetryAfterMs } from './retry-after.ts';
import type { VendorFailure } from './vendor-failure.ts';

const failure = (status: number, body: unknown, headers: VendorFailure['headers'] = {}): VendorFailure => ({
  provider: 'lab',
  modelId: 'm-1',
  status,
  headers,
  body,
  secrets: ['sk-very-secret-key'],
  nowMs: Date.parse('2026-11-22T00:00:00Z'),
});
const openAiBody = (code: string | null, message = 'Some sentence.', type = 'invalid_request_error') => ({
  error: { message, type, param: null, code },
});
const anthropicBody = (type: string, message = 'Some sentence.') => ({ type: 'error', error: { type, message }, request_id: 'req_1' });

test.each([
  [401, openAiBody('invalid_api_key'), 'model_auth', false],
  [403, openAiBody(null), 'model_auth', false],
  [429, openAiBody('insufficient_quota', 'quota', 'insufficient_quota'), 'model_quota', false],
  [402, { error: { code: 402, message: 'Insufficient credits' } }, 'model_quota', false],
  [429, openAiBody('rate_limit_exceeded'), 'model_rate_limited', true],
  [400, openAiBody('context_length_exceeded'), 'model_context_overflow', false],
  [
    400,
    { error: { code: 400, message: 'the request exceeds the available context size', type: 'exceed_context_size_error' } },
    'model_context_overflow',
    false,
  ],
  [400, { object: 'error', message: "This model's maximum context length is 8192 tokens", code: 400 }, 'model_context_overflow', false],
  [404, openAiBody('model_not_found'), 'model_unknown', false],
  [404, 'Not Found', 'model_unknown', false],
  [400, openAiBody(null, 'No models loaded. Please load a model.'), 'model_unknown', false],
  [400, openAiBody('invalid_value'), 'model_rejected', false],
  [422, { detail: 'bad' }, 'model_rejected', false],
  [301, '', 'model_rejected', false],
  [500, openAiBody(null, 'oops', 'server_error'), 'model_unavailable', true],
  [503, { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } }, 'model_unavailable', true],
  [504, '<html><body>Gateway timeout</body></html>', 'model_timeout', true],
  [200, { error: { message: 'Provider returned error', code: 429 } }, 'model_rate_limited', true],
  [200, { error: 'something broke' }, 'model_unavailable', true],
] as const)('OpenAI format: HTTP %s %j is %s', (status, body, code, isRetryable) => {
  expect(mapOpenAiFailure(failure(status, body))).toMatchObject({ code, isRetryable });
});

test.each([
  [401, anthropicBody('authentication_error'), 'model_auth'],
  [402, anthropicBody('billing_error'), 'model_quota'],
  [400, anthropicBody('invalid_request_error', 'Your credit balance is too low to access the API.'), 'model_quota'],
  [404, anthropicBody('not_found_error'), 'model_unknown'],
  [400, anthropicBody('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'), 'model_context_overflow'],
  [413, anthropicBody('request_too_large'), 'model_context_overflow'],
  [400, anthropicBody('invalid_request_error'), 'model_rejected'],
  [429, anthropicBody('rate_limit_error'), 'model_rate_limited'],
  [529, anthropicBody('overloaded_error'), 'model_unavailable'],
  [504, anthropicBody('timeout_error'), 'model_timeout'],
  [502, 'Bad gateway', 'model_unavailable'],
] as const)('Anthropic format: HTTP %s %j is %s', (status, body, code) => {
  expect(mapAnthropicFailure(failure(status, body)).code).toBe(code);
});

test.each([
  [404, { error: "model 'm-1' not found" }, 'model_unknown'],
  [400, { error: 'm-1 does not support tools' }, 'model_rejected'],
  [200, { error: 'an error was encountered while running the model' }, 'model_unavailable'],
  [500, { error: 'model runner has unexpectedly stopped' }, 'model_unavailable'],
] as const)('Ollama: HTTP %s %j is %s', (status, body, code) => {
  expect(mapOllamaFailure(failure(status, body)).code).toBe(code);
});

test.each<[number, unknown, object]>([
  [401, openAiBody('api_key_expired', 'Your API key sk-very*****-key has expired.'), { code: 'model_auth', message: 'lab says that the key has expired.', hint: expect.stringContaining('new key') as string }], // prettier-ignore
  [401, openAiBody('account_deactivated', 'The OpenAI account has been deactivated.'), { code: 'model_auth', message: 'lab says that the key or its account is disabled.' }], // prettier-ignore
  [403, openAiBody(null, 'You have insufficient permissions for this operation. Missing scopes: model.request.'), { code: 'model_auth', message: 'lab says that the key lacks a permission for this.' }], // prettier-ignore
  [403, '<html><title>Blocked</title></html>', { code: 'model_rejected', message: 'A web page answers in place of lab.', hint: expect.stringContaining('a proxy') as string }], // prettier-ignore
  [401, '<html><title>401 Authorization Required</title></html>', { code: 'model_auth', message: 'lab did not accept the key.' }],
  [404, openAiBody('model_not_found', 'Your organization must be verified to use the model `m-1`.'), { code: 'model_unknown', message: expect.stringMatching(/^lab does not let this account use the model "m-1"\. It says: Your org/) as string }], // prettier-ignore
])('HTTP %s %j says what is wrong', (status, body, said) => {
  expect(mapOpenAiFailure(failure(status, body))).toMatchObject(said);
});

test('messages are plain, quote the vendor, and never contain the key', () => {
  const said = mapOpenAiFailure(failure(400, openAiBody(null, 'Header sk-very-secret-key is   odd')));
  expect(said.message).toBe('lab refused the request. It says: Header [key removed] is odd.');
  expect(mapOpenAiFailure(failure(400, openAiBody(null, 'No.'))).message).toBe('lab refused the request. It says: No.');
  const auth = mapOpenAiFailure(failure(401, openAiBody('invalid_api_key', 'Incorrect API key provided: sk-very*****-key')));
  expect(auth.message).toBe('lab did not accept the key.');
  expect(mapOllamaFailure(failure(404, { error: 'model not found' })).hint).toBe('Fetch it with: ollama pull m-1');
  expect(mapOpenAiFailure(failure(500, 'long '.repeat(200))).message.length).toBeLessThan(400);
});

test.each([
  [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
  [{ 'retry-after': '2' }, 2000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after': 'Sun, 22 Nov 2026 00:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Sat, 21 Nov 2026 00:00:30 GMT' }, 0],
  [{ 'retry-after': 'soon' }, null],
  [{ 'retry-after': '-1' }, null],
  [{}, null],
])('%j asks for a wait of %s ms', (headers, expected) => {
  expect(readRetryAfterMs(headers, Date.parse('2026-11-22T00:00:00Z'))).toBe(expected);
});
