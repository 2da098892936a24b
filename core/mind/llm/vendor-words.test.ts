import { expect, test } from 'vitest';
import { mapAnthropicFailure } from './anthropic-errors.ts';
import { mapOllamaFailure } from './ollama-errors.ts';
import { mapOpenAiFailure } from './openai-errors.ts';
import { refusedWords } from './refused-words.ts';
import { readRetryAfterMs } from './retry-after.ts';
import type { VendorFailure } from './vendor-failure.ts';

const failure = (status: number, body: unknown, headers: VendorFailure['headers'] = {}): VendorFailure => {
  return { provider: 'lab', modelId: 'm-1', status, headers, body, secrets: [], nowMs: 0 };
};
const spent = (error_code: string) => {
  return failure(429, { type: 'error', error: { type: 'rate_limit_error', message: 'Usage is paused.', details: { error_code } } });
};
const openAi = (status: number, message: string, rest: object = {}) => failure(status, { error: { message, ...rest } });

test.each([
  ['Anthropic', mapAnthropicFailure(openAi(400, 'prompt is too long: 213462 tokens > 200000 maximum')), 200_000, 213_462],
  [
    'OpenAI',
    mapOpenAiFailure(
      openAi(400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.", {
        code: 'context_length_exceeded',
      }),
    ),
    8192,
    9001,
  ],
  ['OpenAI, newer', mapOpenAiFailure(openAi(400, 'Your input exceeds the context window of this model.')), undefined, undefined],
  [
    'Gemini',
    mapOpenAiFailure(
      failure(400, [
        {
          error: {
            code: 400,
            message: 'The input token count (1200001) exceeds the maximum number of tokens allowed (1048576).',
            status: 'INVALID_ARGUMENT',
          },
        },
      ]),
    ),
    1_048_576,
    1_200_001,
  ],
  [
    'xAI',
    mapOpenAiFailure(
      failure(400, {
        code: 'Client specified an invalid argument',
        error: "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
      }),
    ),
    131_072,
    140_000,
  ],
  ['Groq', mapOpenAiFailure(openAi(400, 'Please reduce the length of the messages or completion.')), undefined, undefined],
  [
    'OpenRouter',
    mapOpenAiFailure(
      openAi(400, "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens", { code: 400 }),
    ),
    32_768,
    40_000,
  ],
  [
    'llama-server',
    mapOpenAiFailure(
      openAi(400, 'request (5012 tokens) exceeds the available context size (4096 tokens), try increasing it', {
        code: 400,
        type: 'exceed_context_size_error',
        n_prompt_tokens: 5012,
        n_ctx: 4096,
      }),
    ),
    4096,
    5012,
  ],
  [
    'LM Studio',
    mapOpenAiFailure(
      failure(400, {
        error:
          'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 4983>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.',
      }),
    ),
    4096,
    4983,
  ],
  [
    'LM Studio, older',
    mapOpenAiFailure(
      failure(400, {
        error:
          'Trying to keep the first 4983 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
      }),
    ),
    4096,
    4983,
  ],
  [
    'Mistral',
    mapOpenAiFailure(
      failure(400, {
        object: 'error',
        message: 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length',
        code: '3051',
      }),
    ),
    32_768,
    undefined,
  ],
  ['Bedrock', mapOpenAiFailure(openAi(400, 'Input is too long for requested model.')), undefined, undefined],
  ['Copilot', mapOpenAiFailure(openAi(400, 'prompt token count of 70000 exceeds the limit of 64000')), 64_000, 70_000],
  ['Kimi', mapOpenAiFailure(openAi(400, 'Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)')), 8192, 9000],
  ['MiniMax', mapOpenAiFailure(openAi(400, 'invalid params, context window exceeds limit (2013)')), undefined, undefined],
  ['Ollama', mapOllamaFailure(failure(400, { error: 'the input length exceeds the context length' })), undefined, undefined],
  ['Cerebras', mapOpenAiFailure(failure(400, ''), { emptyRefusalIsTooLong: true }), undefined, undefined],
  ['in a stream', mapOpenAiFailure(openAi(200, 'the request exceeds the available context size')), undefined, undefined],
])('recognises a request that is too long, in the wording of %s', (_vendor, error, limitTokens, requestTokens) => {
  expect(error.code).toBe('model_context_overflow');
  expect([error.data['limitTokens'], error.data['requestTokens']]).toEqual([limitTokens, requestTokens]);
});

test.each([
  mapOpenAiFailure(
    openAi(413, 'Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000', { code: 'rate_limit_exceeded' }),
  ),
  mapOpenAiFailure(openAi(429, 'Rate limit reached: maximum context tokens per minute exceeded')),
  mapOpenAiFailure(
    failure(429, [{ error: { code: 429, message: 'Resource has been exhausted (e.g. check quota).', status: 'RESOURCE_EXHAUSTED' } }]),
  ),
])('a rate limit that mentions tokens is not an overflow', (error) => {
  expect(error).toMatchObject({ code: 'model_rate_limited', isRetryable: true });
});

test.each([
  [
    'OpenAI',
    mapOpenAiFailure(openAi(429, 'You have reached it.', { type: 'rate_limit_error', code: 'organization_spend_limit_exceeded' })),
  ],
  ['OpenAI, without credit', mapOpenAiFailure(openAi(429, 'Add credits.', { type: 'requests', code: 'credit_balance_exhausted' }))],
  ['Anthropic', mapAnthropicFailure(spent('enforced_spend_limit_reached'))],
  ['Anthropic, by contract', mapAnthropicFailure(spent('contract_spend_limit_reached'))],
])('a spend limit of %s is known by its code, and not waited for', (_vendor, error) => {
  expect(error).toMatchObject({ code: 'model_quota', isRetryable: false });
});

test('other codes of Anthropic do not change what its type means', () => {
  expect(mapAnthropicFailure(spent('ramp_limit_exceeded'))).toMatchObject({ code: 'model_rate_limited', isRetryable: true });
});

test('a spend cap is not waited for, an empty refusal elsewhere is not an overflow', () => {
  const capped = failure(429, {
    type: 'error',
    error: { type: 'rate_limit_error', message: 'You have reached your specified API usage limits.' },
  });
  expect(mapAnthropicFailure(capped)).toMatchObject({ code: 'model_quota', isRetryable: false });
  expect(mapOpenAiFailure(failure(400, '')).code).toBe('model_rejected');
});

test.each([
  ['an array', failure(400, [{ error: { code: 400, message: 'Bad thing.', status: 'INVALID_ARGUMENT' } }]), 'Bad thing.'],
  ['a string', failure(400, { code: 'x', error: 'Bad thing.' }), 'Bad thing.'],
  ['an array in `error`', failure(400, { error: [{ message: 'Bad thing.' }] }), 'Bad thing.'],
  ['a message list', failure(422, { message: [{ loc: ['body', 'a', 1, 'b'], msg: 'Bad thing.' }] }), 'body.a.1.b: Bad thing.'],
  ['a message object', failure(422, { object: 'error', message: { detail: [{ loc: ['body'], msg: 'Bad thing.' }] } }), 'body: Bad thing.'],
  ['detail', failure(422, { detail: [{ msg: 'Bad thing.' }] }), 'Bad thing.'],
  [
    "a gateway's",
    failure(400, { error: { message: 'Provider returned error', code: 400, metadata: { raw: '{"error":{"message":"Bad thing."}}' } } }),
    'Provider returned error: Bad thing.',
  ],
])('an error body that is %s is read', (_what, given, said) => {
  expect(mapOpenAiFailure(given)).toMatchObject({ code: 'model_rejected', message: `lab refused the request. It says: ${said}` });
});

test('an HTML page of a proxy is not shown to the person', () => {
  const error = mapOpenAiFailure(failure(524, '<!DOCTYPE html><html><title>524: A timeout occurred</title></html>'));
  expect(error).toMatchObject({ code: 'model_unavailable', message: 'lab cannot answer at the moment.', isRetryable: true });
});

test.each([
  ['Groq, in a stream', { error: { message: 'slow', status_code: 429 } }, 'model_rate_limited'],
  ['Groq, a call that does not fit', { error: { message: 'tool call validation failed: x', code: 'tool_use_failed' } }, 'model_bad_reply'],
  ['vLLM, in a stream', { object: 'error', message: 'boom', code: 500 }, 'model_unavailable'],
])('reads the failure of %s', (_what, body, code) => {
  expect(mapOpenAiFailure(failure(200, body))).toMatchObject({ code, isRetryable: true });
});

test.each([
  [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '1.57s', 'x-ratelimit-reset-requests': '6s' }, {}, 1570],
  [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1m2.5s' }, {}, 62_500],
  [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '120ms' }, {}, 120],
  [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1795305600000' }, {}, null],
  [{}, [{ error: { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' }] } }], 34_000],
  [{ 'retry-after': '2' }, { error: { details: [{ retryDelay: '34s' }] } }, 2000],
  [{}, { error: { details: 'none' } }, null],
])('%j %j asks for a wait of %s ms', (headers, body, expected) => {
  expect(readRetryAfterMs(headers, 0, body)).toBe(expected);
});

test.each([
  [
    `Invalid JSON payload received. Unknown name "$schema" at 'tools[0]': Cannot find field.\nUnknown name "const": Cannot find field.`,
    ['$schema', 'const'],
  ],
  ['body.stream_options: Extra inputs are not permitted', ['stream_options']],
  ['body.messages.31.assistant.reasoning_content: Extra inputs are not permitted', ['reasoning_content']],
  ["Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", ['max_tokens']],
  ["Unknown parameter: 'tools[0].function.strict'.", ['strict']],
  ["Unsupported value: 'reasoning_effort' does not support 'none' with this model.", ['reasoning_effort']],
  ['Unrecognized request argument supplied: stream_options', ['stream_options']],
  ["Invalid schema for function 'x': In context=('properties',), 'allOf' is not permitted.", ['allOf', 'all_of']],
  [
    `'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning' is unsupported)]`,
    ['reasoning'],
  ],
  ['Model grok-4 does not support parameter reasoningEffort.', ['reasoningEffort', 'reasoning_effort']],
  ["Additional properties are not allowed ('stream_options' was unexpected)", ['stream_options']],
  ['json: unknown field "stream_options"', ['stream_options']],
  ['Unsupported param: stream_options', ['stream_options']],
  ['registry.ollama.ai/library/gemma:2b does not support tools', ['tools']],
  ['The temperature must be between 0 and 2.', []],
])('%s names %j', (said, words) => {
  expect(refusedWords(said)).toEqual(words);
});
