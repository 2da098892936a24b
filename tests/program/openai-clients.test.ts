// The official client libraries at the door for programs: OpenAI's own, the AI SDK and LangChain. They are the judges: people's programs do
// what these libraries read, raise and assemble.

import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { HumanMessage } from '@langchain/core/messages';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { generateText, isStepCount, jsonSchema, Output, streamText, tool, type ToolSet } from 'ai';
import OpenAI from 'openai';
import { LengthFinishReasonError } from 'openai/core/error';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEmbeddingServer, type EmbeddingServer } from '../doubles/hashed-embedder.ts';
import { OpenAiDoorRig } from '../doubles/openai-door.ts';

let rig: OpenAiDoorRig;
let embedder: EmbeddingServer;
let client: OpenAI;

const agent = 'trayclaw';
const pass = 'passthrough/lab/scripted';
const text = { type: 'string' as const };
const weather = { type: 'object' as const, properties: { city: text }, required: ['city'], additionalProperties: false };
const town = {
  type: 'object' as const,
  properties: { name: text, people: { type: 'integer' as const } },
  required: ['name', 'people'],
  additionalProperties: false,
};
const berlin = { name: 'Berlin', people: 3_700_000 };

beforeAll(async () => {
  embedder = await startEmbeddingServer();
  rig = await OpenAiDoorRig.start(
    [
      { user: /weather/, results: 0, answer: { calls: [{ tool: 'get_weather', args: { city: 'Oslo' } }] } },
      { user: /weather/, results: 1, answer: { text: 'It rains in Oslo.' } },
      { user: /large town/, answer: { text: '{"name": "Berl', finish: 'length' } },
      { user: /forecast/, results: 0, answer: { text: 'Let me look.', calls: [{ tool: 'get_weather', args: { city: 'Oslo' } }] } },
      { user: /forecast/, results: 1, answer: { text: 'Sun.' } },
      { user: /town/i, answer: { text: JSON.stringify(berlin) } },
      { user: /slow/, answer: { text: 'one two three four five six', pieceChars: 4, delayMs: 100 } },
      { user: /refused/, answer: { refuse: 'rate-limited' } },
      { user: /unfit/, answer: { refuse: 'rejected', message: 'A description is too long.' } },
      { user: /breaks/, answer: { text: 'one two three', pieceChars: 4, trouble: { kind: 'error', afterFrames: 2 } } },
      {
        user: /remember/,
        answer: ({ body }) => ({ text: `I was told ${JSON.stringify(body['messages']).match(/"role":"user"/g)?.length ?? 0}` }),
      },
      { answer: { text: 'Hello there', pieceChars: 4, usage: { input: 9, output: 3 } } },
    ],
    {
      models: { default: 'lab/scripted', retries: 0 },
      embeddings: { kind: 'openai-compatible', baseUrl: `${embedder.origin}/v1`, model: 'hashed', dimensions: 8 },
    },
  );
  client = new OpenAI({ baseURL: rig.baseUrl, apiKey: rig.key, maxRetries: 0 });
});
afterAll(async () => {
  await rig.dispose();
  await embedder.close();
});

test('openai: models are listed, and one is retrieved by its encoded id', async () => {
  const ids = (await client.models.list()).data.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining([agent, 'trayclaw/main', pass, 'trayclaw/embeddings']));
  expect((await client.models.retrieve('trayclaw/main')).id).toBe('trayclaw/main');
});

test.each([agent, pass])('openai: chat and stream of %s', async (model) => {
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const { choices, usage } = await client.chat.completions.create({ model, messages });
  expect(choices[0]).toMatchObject({ message: { content: 'Hello there' }, finish_reason: 'stop' });
  expect(usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 3 });
  const stream = client.chat.completions.stream({ model, messages, stream_options: { include_usage: true } });
  expect(await stream.finalContent()).toBe('Hello there');
  expect((await stream.totalUsage()).total_tokens).toBe(12);
});

test('openai: client tools are returned unexecuted, and their results reach the model', async () => {
  const tools = [{ type: 'function' as const, function: { name: 'get_weather', parameters: weather } }];
  const asked = { role: 'user' as const, content: 'What is the weather?' };
  const first = await client.chat.completions.create({ model: pass, messages: [asked], tools });
  const message = first.choices[0]?.message;
  expect(first.choices[0]?.finish_reason).toBe('tool_calls');
  const call = message?.tool_calls?.[0];
  expect(call).toMatchObject({ type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } });
  const messages = [
    asked,
    { ...message, role: 'assistant' as const },
    { role: 'tool' as const, tool_call_id: call?.id ?? '', content: 'rain' },
  ];
  const stream = client.chat.completions.stream({ model: pass, messages, tools });
  expect(await stream.finalContent()).toBe('It rains in Oslo.');
  const streamed = await client.chat.completions.stream({ model: pass, messages: [asked], tools }).finalChatCompletion();
  expect(streamed.choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: { arguments: '{"city":"Oslo"}' } });
});

test.each([agent, pass])('openai: a structured answer of %s', async (model) => {
  const { choices } = await client.chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'Which town?' }],
    response_format: { type: 'json_schema', json_schema: { name: 'town', schema: town } },
  });
  expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual(berlin);
});

test('openai: a passed-through answer that was cut off is raised as one, though it is not a value of the schema', async () => {
  const { completions } = client.chat;
  const asked = {
    model: pass,
    messages: [{ role: 'user' as const, content: 'Which large town?' }],
    response_format: { type: 'json_schema' as const, json_schema: { name: 'town', schema: town, strict: true } },
  };
  await expect(completions.parse(asked)).rejects.toBeInstanceOf(LengthFinishReasonError);
  await expect(completions.stream(asked).finalChatCompletion()).rejects.toBeInstanceOf(LengthFinishReasonError);
  const { status, incomplete_details } = await client.responses.create({
    model: pass,
    input: 'Which large town?',
    text: { format: { type: 'json_schema', name: 'town', schema: town } },
  });
  expect([status, incomplete_details?.reason]).toEqual(['incomplete', 'max_output_tokens']);
});

test.each([agent, pass])('openai: responses and their events of %s', async (model) => {
  const { output_text, status, usage } = await client.responses.create({ model, input: 'Hi' });
  expect([output_text, status]).toEqual(['Hello there', 'completed']);
  expect(usage).toEqual({
    input_tokens: 9,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 12,
  } satisfies OpenAI.Responses.ResponseUsage);
  const stream = client.responses.stream({ model, input: 'Hi' });
  const types: string[] = [];
  for await (const { type } of stream) types.push(type);
  expect(types.slice(0, 2)).toEqual(['response.created', 'response.in_progress']);
  expect(types.at(-1)).toBe('response.completed');
  expect((await stream.finalResponse()).output_text).toBe('Hello there');
});

test('openai: a response continues the previous one in the same session', async () => {
  const first = await client.responses.create({ model: agent, input: 'Please remember 7' });
  const second = await client.responses.create({ model: agent, input: 'What did I say? remember', previous_response_id: first.id });
  expect([first.output_text, second.output_text]).toEqual(['I was told 1', 'I was told 2']);
});

test('openai: embeddings, as base64 by default and as numbers on request', async () => {
  const input = ['rain in Oslo', 'sun'];
  const binary = await client.embeddings.create({ model: 'trayclaw/embeddings', input });
  const plain = await client.embeddings.create({ model: 'trayclaw/embeddings', input, encoding_format: 'float' });
  expect(binary.data.map(({ embedding }) => embedding.length)).toEqual([8, 8]);
  for (const [at, { embedding }] of plain.data.entries())
    for (const [i, value] of embedding.entries()) expect(binary.data[at]?.embedding[i]).toBeCloseTo(value, 6);
});

test('openai: errors are raised as the right class', async () => {
  const stranger = new OpenAI({ baseURL: rig.baseUrl, apiKey: 'tcd-wrong', maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  await expect(stranger.models.list()).rejects.toMatchObject({
    status: 401,
    code: 'invalid_api_key',
    constructor: OpenAI.AuthenticationError,
  });
  await expect(client.chat.completions.create({ model: 'gpt-nothing', messages })).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  await expect(client.chat.completions.create({ model: agent, messages: [] })).rejects.toBeInstanceOf(OpenAI.BadRequestError);
  const few = new OpenAI({ baseURL: rig.baseUrl, apiKey: (await rig.token({ name: 'few', perMinute: 1 })).key, maxRetries: 0 });
  await few.models.list();
  await expect(few.models.list()).rejects.toMatchObject({ status: 429, constructor: OpenAI.RateLimitError });
  const broken = client.chat.completions.stream({ model: pass, messages: [{ role: 'user', content: 'this breaks' }] });
  await expect(broken.finalContent()).rejects.toBeInstanceOf(OpenAI.APIError);
  // Nothing was sent yet, so the stream is an HTTP error with the class it means.
  const refused = { model: pass, stream: true as const };
  await expect(client.chat.completions.create({ ...refused, messages: [{ role: 'user', content: 'refused' }] })).rejects.toBeInstanceOf(
    OpenAI.RateLimitError,
  );
  await expect(client.responses.create({ ...refused, input: 'refused' })).rejects.toBeInstanceOf(OpenAI.RateLimitError);
  // Asking once more would not help.
  await expect(client.responses.create({ ...refused, input: 'unfit' })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('too long'),
  });
});

test.each([agent, pass])('openai: a response of %s that breaks is told as failed before the error is raised', async (model) => {
  const stream = await client.responses.create({ model, input: 'this breaks', stream: true });
  let failed: string | undefined;
  const reading = (async () => {
    for await (const event of stream) if (event.type === 'response.failed') failed = event.response.error?.message;
  })();
  await expect(reading).rejects.toBeInstanceOf(OpenAI.APIError);
  expect(failed).toContain('cannot answer');
});

test('openai: an aborted stream cancels the turn', async () => {
  const stop = new AbortController();
  const { data: stream, response } = await client.chat.completions
    .create({ model: agent, messages: [{ role: 'user', content: 'slow please' }], stream: true }, { signal: stop.signal })
    .withResponse();
  const turnId = response.headers.get('x-trayclaw-turn') ?? '';
  for await (const chunk of stream) if ((chunk.choices[0]?.delta.content ?? '') !== '') stop.abort();
  await expect.poll(async () => (await rig.claw.op('turn.get', { turnId })).status).toBe('cancelled');
});

test('AI SDK, compatible provider: text, stream, tools and a structured answer', async () => {
  const lab = createOpenAICompatible({
    name: 'trayclaw',
    baseURL: rig.baseUrl,
    apiKey: rig.key,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
  expect((await generateText({ model: lab(agent), prompt: 'Hi' })).text).toBe('Hello there');
  const streamed = streamText({ model: lab(agent), prompt: 'Hi' });
  expect(await streamed.text).toBe('Hello there');
  expect((await streamed.usage).totalTokens).toBe(12);
  const tools: ToolSet = { get_weather: { inputSchema: jsonSchema(weather) } };
  const { toolCalls } = await generateText({ model: lab(pass), prompt: 'the weather?', tools });
  expect(toolCalls).toMatchObject([{ toolName: 'get_weather', input: { city: 'Oslo' } }]);
  const shaped = await generateText({
    model: lab(pass),
    prompt: 'a town',
    output: Output.object({ schema: jsonSchema<typeof berlin>(town) }),
  });
  expect(shaped.output).toEqual(berlin);
});

test('AI SDK, OpenAI provider: responses, their stream, tools and an error', async () => {
  const openai = createOpenAI({ baseURL: rig.baseUrl, apiKey: rig.key });
  expect((await generateText({ model: openai(agent), prompt: 'Hi' })).text).toBe('Hello there');
  expect(await streamText({ model: openai(agent), prompt: 'Hi' }).text).toBe('Hello there');
  const tools = { get_weather: tool({ inputSchema: jsonSchema<{ city: string }>(weather), execute: () => Promise.resolve('rain') }) };
  const first = await generateText({ model: openai(pass), prompt: 'the weather?', tools });
  expect(first.toolCalls).toMatchObject([{ toolName: 'get_weather', input: { city: 'Oslo' } }]);
  await expect(generateText({ model: openai('nothing'), prompt: 'Hi', maxRetries: 0 })).rejects.toMatchObject({ statusCode: 404 });
});

test('AI SDK, OpenAI provider: items of earlier answers are named by their ids, in a loop of tools and in a conversation', async () => {
  const openai = createOpenAI({ baseURL: rig.baseUrl, apiKey: rig.key });
  const tools = { get_weather: tool({ inputSchema: jsonSchema<{ city: string }>(weather), execute: () => Promise.resolve('sun') }) };
  const asked = { model: openai(pass), prompt: 'the forecast?', tools, stopWhen: isStepCount(3) };
  expect((await generateText(asked)).text).toBe('Sun.');
  const streamed = streamText(asked);
  expect([await streamed.text, (await streamed.steps).length]).toEqual(['Sun.', 2]);
  const first = await generateText({ model: openai(agent), prompt: 'Please remember 7' });
  const messages = [
    { role: 'user' as const, content: 'Please remember 7' },
    ...first.responseMessages,
    { role: 'user' as const, content: 'What did I say? remember' },
  ];
  expect((await generateText({ model: openai(agent), messages })).text).toBe('I was told 2');
});

test('openai: an item is found only by the token that was given it, and not where it was to be forgotten', async () => {
  const { output } = await client.responses.create({ model: agent, input: 'Hi' });
  const { output: unkept } = await client.responses.create({ model: agent, input: 'Hi', store: false });
  const again = (id: string | undefined) => [
    { role: 'user' as const, content: 'Hi' },
    { type: 'item_reference' as const, id: id ?? '' },
    { role: 'user' as const, content: 'And now?' },
  ];
  const other = new OpenAI({ baseURL: rig.baseUrl, apiKey: (await rig.token({ name: 'other' })).key, maxRetries: 0 });
  expect((await client.responses.create({ model: agent, input: again(output[0]?.id) })).output_text).toBe('Hello there');
  for (const [by, id] of [[other, output[0]?.id] as const, [client, unkept[0]?.id] as const, [client, 'msg_none'] as const])
    await expect(by.responses.create({ model: agent, input: again(id) })).rejects.toMatchObject({ status: 404, param: 'input' });
});

test('LangChain: chat, stream, tools, a structured answer and embeddings', async () => {
  const given = { apiKey: rig.key, configuration: { baseURL: rig.baseUrl }, maxRetries: 0 };
  const model = new ChatOpenAI({ ...given, model: agent });
  expect((await model.invoke('Hi')).content).toBe('Hello there');
  let whole = '';
  for await (const chunk of await model.stream([new HumanMessage('Hi')])) if (typeof chunk.content === 'string') whole += chunk.content;
  expect(whole).toBe('Hello there');
  const passing = new ChatOpenAI({ ...given, model: pass });
  const bound = passing.bindTools([{ type: 'function', function: { name: 'get_weather', parameters: weather } }]);
  expect((await bound.invoke('the weather?')).tool_calls).toMatchObject([{ name: 'get_weather', args: { city: 'Oslo' } }]);
  expect(await passing.withStructuredOutput(town, { method: 'jsonSchema', name: 'town' }).invoke('a town')).toEqual(berlin);
  const vectors = await new OpenAIEmbeddings({ ...given, model: 'trayclaw/embeddings' }).embedDocuments(['rain', 'sun']);
  expect(vectors.map(({ length }) => length)).toEqual([8, 8]);
});
