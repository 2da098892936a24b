import { expect, test } from 'vitest';
import type { ChatMessage } from '../../contracts/llm.ts';
import {
  createRequest,
  createRouter,
  failureOf,
  readFixture,
  RecordingSink,
  result,
  user,
} from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { ScriptedServer, type Script } from '../../../tests/rigs/core/mind/llm/scripted-server.ts';
import { serverNameOf, serverProfile } from './server-profile.ts';
import { RefusedWordsInMemory, withoutWords } from './wire-words.ts';

const never = new AbortController().signal;
const ok: Script = { chunks: [readFixture('openai-text.txt')] };
const refusal = (message: string, status = 400): Script => ({
  status,
  chunks: [JSON.stringify({ error: { message, type: 'invalid_request_error' } })],
});
const tools = [
  {
    name: 'get_weather',
    description: 'Says the weather.',
    parameters: {
      type: 'object',
      properties: { pattern: { type: 'string', pattern: '^a$', minLength: 1 }, additionalProperties: { type: 'string' } },
      required: ['pattern'],
      additionalProperties: false,
    },
  },
];
type Body = { tools: { function: { parameters: Record<string, unknown> } }[]; messages: Record<string, unknown>[] } & Record<
  string,
  unknown
>;
const bodies = (server: ScriptedServer): Body[] => server.seen.map(({ body }) => JSON.parse(body) as Body);

function routerTo(server: ScriptedServer, extra: object = {}, refusedWords = new RefusedWordsInMemory()) {
  const lab = { kind: 'openai-compatible' as const, baseUrl: `${server.url}/v1`, ...extra };
  return createRouter({ providers: { lab }, models: { retries: 0 } }, { refusedWords });
}

test.each([
  ['https://api.mistral.ai/v1', 'mistral'],
  ['https://x.openai.azure.com/openai', 'openai'],
  ['https://generativelanguage.googleapis.com/v1beta/openai', 'gemini'],
  ['https://notmistral.ai/v1', null],
  ['http://127.0.0.1:1234/v1', null],
])('%s is %s', (baseUrl, name) => {
  expect(serverNameOf(baseUrl)).toBe(name);
});

test('a preset wins over the address; an unknown address gets the common form', () => {
  expect(serverProfile('https://proxy.example/v1', 'mistral')).toMatchObject({ callIds: 'nine', streamOptions: false });
  expect(serverProfile('https://proxy.example/v1')).toMatchObject({ callIds: 'any', streamOptions: true, maxTokensKey: 'max_tokens' });
});

test.each([
  ['stream_options', 'body.stream_options: Extra inputs are not permitted', 422, (body: Body) => body['stream_options']],
  ['max_tokens', "Unsupported parameter: 'max_tokens' is not supported with this model.", 400, (body: Body) => body['max_tokens']],
  [
    'additionalProperties',
    `Unknown name "additionalProperties" at 'tools[0].function_declarations[0].parameters': Cannot find field.`,
    400,
    (body: Body) => body.tools[0]?.function.parameters['additionalProperties'],
  ],
] as const)('%s is left out once the server refused it by name, and stays out', async (word, message, status, find) => {
  await using server = await ScriptedServer.start(refusal(message, status), ok, ok);
  const refusedWords = new RefusedWordsInMemory();
  const retried: object[] = [];
  const ask = async (router = routerTo(server, {}, refusedWords)) => {
    const onRetry = (retry: object) => retried.push(retry);
    await router.stream('lab/m', createRequest([user('hi')], { tools, maxOutputTokens: 50 }), new RecordingSink(), {
      signal: never,
      onRetry,
    });
    await router.close();
  };
  await ask();
  await ask();
  expect(bodies(server).map((body) => find(body) !== undefined)).toEqual([true, false, false]);
  expect(retried).toMatchObject([{ attempt: 1, waitMs: 0, error: { data: { leftOut: [word] } } }]);
  if (word === 'max_tokens') expect(bodies(server)[1]).toMatchObject({ max_completion_tokens: 50 });
});

test('reasoning with tools is disabled after a refusal', async () => {
  const message =
    "Function tools with reasoning_effort are not supported for our-model in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.";
  await using server = await ScriptedServer.start(refusal(message), ok, ok, ok);
  const router = routerTo(server, { preset: 'openai' });
  const ask = (offered: typeof tools) =>
    router.stream('lab/our-model', createRequest([user('hi')], { tools: offered }), new RecordingSink(), { signal: never });
  await ask(tools);
  await ask(tools);
  await ask([]);
  await router.close();
  expect(bodies(server).map((body) => body['reasoning_effort'])).toEqual([undefined, 'none', 'none', undefined]);
});

test('a second refusal ends the call: it never loops', async () => {
  const scripts = ['stream_options', 'max_tokens', 'additionalProperties'].map((word) => refusal(`Unknown parameter: '${word}'.`));
  await using server = await ScriptedServer.start(...scripts, ok);
  const router = routerTo(server);
  const request = createRequest([user('hi')], { tools, maxOutputTokens: 50 });
  const error = await failureOf(router.stream('lab/m', request, new RecordingSink(), { signal: never }));
  await router.close();
  expect(error.code).toBe('model_rejected');
  expect(server.seen).toHaveLength(2);
});

test.each([
  ['a field that was not sent', 400, "Unknown parameter: 'temperature'."],
  ['an essential field', 400, "Unknown parameter: 'messages'."],
  ['a key', 401, "Unknown parameter: 'stream_options'."],
  ['a rate limit', 429, "Unknown parameter: 'stream_options'."],
  ['a broken server', 500, "Unknown parameter: 'stream_options'."],
])('%s does not cause another request', async (_what, status, message) => {
  await using server = await ScriptedServer.start(refusal(message, status), ok);
  const router = routerTo(server);
  await failureOf(router.stream('lab/m', createRequest([user('hi')]), new RecordingSink(), { signal: never }));
  await router.close();
  expect(server.seen).toHaveLength(1);
});

test('a field refused by one model is still sent to other models and servers', async () => {
  await using server = await ScriptedServer.start(refusal("Unknown parameter: 'stream_options'."), ok, ok);
  const router = routerTo(server);
  for (const model of ['lab/a', 'lab/b']) await router.stream(model, createRequest([user('hi')]), new RecordingSink(), { signal: never });
  await router.close();
  expect(bodies(server).map((body) => 'stream_options' in body)).toEqual([true, false, true]);
});

test('a property with the name of a refused keyword stays', () => {
  expect(withoutWords(tools[0]?.parameters, new Set(['pattern', 'additionalProperties', 'minLength', 'type']))).toEqual({
    type: 'object',
    properties: { pattern: { type: 'string' }, additionalProperties: { type: 'string' } },
    required: ['pattern'],
  });
});

test('Mistral: stable nine-character ids, and no user message right after a result', async () => {
  await using server = await ScriptedServer.start(ok, ok, ok);
  const router = routerTo(server, { preset: 'mistral' });
  const call = { id: 'call_w1', tool: 'get_weather', args: '{}' };
  const messages: ChatMessage[] = [user('hi'), { role: 'assistant', text: '', calls: [call] }, result('call_w1', '21')];
  const ask = (tail?: string) =>
    router.stream('lab/m', createRequest(messages, tail === undefined ? {} : { tail }), new RecordingSink(), { signal: never });
  await ask();
  await ask('material');
  messages.push(user('and now?'));
  await ask();
  await router.close();
  const seen = bodies(server).map((body) => body.messages);
  const roles = seen.map((list) => list.map(({ role }) => role).join(' '));
  expect(roles).toEqual([
    'system user assistant tool',
    'system user assistant tool assistant user',
    'system user assistant tool assistant user',
  ]);
  const ids = seen.flatMap((list) =>
    list.flatMap((message) => [message['tool_call_id'], (message['tool_calls'] as { id: string }[] | undefined)?.[0]?.id]),
  );
  const given = [...new Set(ids.filter((id) => id !== undefined))];
  expect(given).toEqual([expect.stringMatching(/^[A-Za-z0-9]{9}$/)]);
  expect(bodies(server)[0]).not.toHaveProperty('stream_options');
});

const callOf = (fields: object) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { reasoning_content: 'I think.', tool_calls: [{ id: 'c1', ...fields, function: { name: 'get_weather', arguments: '{}' } }] }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`;

test.each([
  ['deepseek', {}, { reasoning_content: 'I think.' }],
  [
    'gemini',
    { extra_content: { google: { thought_signature: 'sig' } } },
    { tool_calls: [{ extra_content: { google: { thought_signature: 'sig' } } }] },
  ],
  ['groq', {}, {}],
])('%s gets back what it wants with a call, and nothing else', async (preset, fields, expected) => {
  await using server = await ScriptedServer.start({ chunks: [callOf(fields)] }, ok, ok);
  const router = routerTo(server, { preset });
  const messages: ChatMessage[] = [user('hi')];
  const reply = await router.stream('lab/m', createRequest(messages), new RecordingSink(), { signal: never });
  messages.push({ role: 'assistant', text: reply.text, calls: reply.calls }, result('c1', '21'));
  await router.stream('lab/m', createRequest(messages), new RecordingSink(), { signal: never });
  await router.close();
  expect(bodies(server)[1]?.messages[2]).toMatchObject(expected);
  if (preset !== 'deepseek') expect(bodies(server)[1]?.messages[2]).not.toHaveProperty('reasoning_content');
  if (preset !== 'gemini') expect(JSON.stringify(bodies(server)[1])).not.toContain('extra_content');
  // After a restart nothing is kept, and the server accepts a form without it.
  const fresh = routerTo(server, { preset });
  await fresh.stream('lab/m', createRequest([...messages]), new RecordingSink(), { signal: never });
  await fresh.close();
  const again = JSON.stringify(bodies(server)[2]);
  if (preset === 'deepseek') expect(again).toContain('"reasoning_content":""');
  if (preset === 'gemini') expect(again).toContain('skip_thought_signature_validator');
});

test.each([
  ['mistral', 'Tool call id was call_w1 but must be a-z, A-Z, 0-9, with a length of 9.'],
  ['mistral', "Unexpected role 'user' after role 'tool'"],
  ['gemini', 'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.'],
  ['gemini', 'Unable to submit request because function call `x` in the 5. content block is missing a `thought_signature`.'],
  ['deepseek', 'The `reasoning_content` in the thinking mode must be passed back to the API.'],
  ['deepseek', 'Missing `reasoning_content` field in the assistant message at message index 2.'],
])('a server without a known name tells that it holds the rules of %s: %s', async (name, message) => {
  const signed = callOf({ extra_content: { google: { thought_signature: 'sig' } } });
  await using server = await ScriptedServer.start({ chunks: [signed] }, refusal(message), ok, ok);
  const refusedWords = new RefusedWordsInMemory();
  const ask = async (router = routerTo(server, {}, refusedWords)) => {
    const reply = await router.stream('lab/m', createRequest(messages), new RecordingSink(), { signal: never });
    if (messages.length === 1)
      messages.push({ role: 'assistant', text: reply.text, calls: reply.calls }, result('c1', '21'), user('and now?'));
    return router;
  };
  const messages: ChatMessage[] = [user('hi')];
  const router = await ask();
  await ask(router);
  await router.close();
  await (await ask()).close();
  const forms: Readonly<Record<string, RegExp>> = {
    mistral: /"tool_call_id":"[A-Za-z0-9]{9}","content":"21"},\{"role":"assistant"/,
    gemini: /"thought_signature":"sig"/,
    deepseek: /"reasoning_content":"I think\."/,
  };
  // A restart loses what was kept of the answer, not what the server told.
  const lost: Readonly<Record<string, RegExp>> = { gemini: /skip_thought_signature/, deepseek: /"reasoning_content":""/ };
  expect(server.seen.map(({ body }) => forms[name]?.test(body))).toEqual([false, false, true, name === 'mistral']);
  expect((lost[name] ?? forms[name])?.test(server.seen[3]?.body ?? '')).toBe(true);
});
