// Ollama's own client library at the door that implements its API, unchanged except for the header with the token: list, show, chat,
// stream, tools, output formats, generate, embeddings, errors, abort.

import { Ollama } from 'ollama';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEmbeddingServer, type EmbeddingServer } from '../doubles/hashed-embedder.ts';
import { OpenAiDoorRig } from '../doubles/openai-door.ts';

let rig: OpenAiDoorRig;
let embedder: EmbeddingServer;
let client: Ollama;

const pass = 'passthrough/lab/scripted';
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tool = { type: 'function', function: { name: 'get_weather', description: 'The weather.', parameters } };
const clientWith = (key: string): Ollama =>
  new Ollama({ host: `http://127.0.0.1:${rig.port}`, headers: { authorization: `Bearer ${key}` } });

beforeAll(async () => {
  embedder = await startEmbeddingServer();
  rig = await OpenAiDoorRig.start(
    [
      { user: /weather/, results: 0, answer: { calls: [{ tool: 'get_weather', args: { city: 'Oslo' } }] } },
      { user: /weather/, results: 1, answer: ({ toolResults }) => ({ text: `It is ${toolResults[0]?.text ?? ''} in Oslo.` }) },
      { user: /town/, answer: { text: '{"city":"Oslo"}' } },
      { user: /slow/, answer: { text: 'one two three four five six', pieceChars: 4, delayMs: 100 } },
      { user: /breaks/, answer: { text: 'one two three', pieceChars: 4, trouble: { kind: 'error', afterFrames: 2 } } },
      { answer: { text: 'Hello there', pieceChars: 4, usage: { input: 9, output: 3 } } },
    ],
    {
      doors: { ollama: { enabled: true } },
      models: { default: 'lab/scripted', retries: 0 },
      embeddings: { kind: 'openai-compatible', baseUrl: `${embedder.origin}/v1`, model: 'hashed', dimensions: 8 },
    },
  );
  client = clientWith((await rig.token({ door: 'ollama', name: 'ollama', scope: ['all'] })).key);
});
afterAll(async () => {
  await rig.dispose();
  await embedder.close();
});

test('the first list of models has what servers offer', async () => {
  const fresh = await OpenAiDoorRig.start([], { models: { default: 'demo/offline' }, doors: { ollama: { enabled: true } } });
  try {
    const { key } = await fresh.token({ door: 'ollama', name: 'ollama', scope: ['all'] });
    const tags = await fetch(`http://127.0.0.1:${fresh.port}/api/tags`, { headers: { authorization: `Bearer ${key}` } });
    expect(await tags.text()).toContain(`"${pass}"`);
  } finally {
    await fresh.dispose();
  }
});

test('models are listed and shown, with and without a tag', async () => {
  expect((await client.list()).models.map(({ name }) => name)).toEqual(expect.arrayContaining(['trayclaw', 'trayclaw/main', pass]));
  expect(await client.show({ model: 'trayclaw:latest' })).toMatchObject({ capabilities: ['completion'] });
  expect((await client.show({ model: pass })).capabilities).toContain('tools');
  expect((await client.ps()).models).toEqual([]);
  expect((await client.version()).version).toMatch(/^\d+\.\d+\.\d+$/);
});

test.each(['trayclaw', pass])('chat and stream of %s', async (model) => {
  const messages = [{ role: 'user', content: 'Hi' }];
  const whole = await client.chat({ model, messages });
  expect([whole.message.content, whole.done_reason, whole.prompt_eval_count, whole.eval_count]).toEqual(['Hello there', 'stop', 9, 3]);
  let text = '';
  for await (const { message } of await client.chat({ model, messages, stream: true })) text += message.content;
  expect(text).toBe('Hello there');
});

test("the client's tools are returned unexecuted, and their results reach the model", async () => {
  const asked = { role: 'user', content: 'What is the weather?' };
  const { message } = await client.chat({ model: pass, messages: [asked], tools: [tool] });
  expect(message.tool_calls?.map((call) => call.function)).toEqual([{ name: 'get_weather', arguments: { city: 'Oslo' } }]);
  const result = { role: 'tool', tool_name: 'get_weather', content: 'wet' };
  const after = await client.chat({ model: pass, messages: [asked, message, result], tools: [tool] });
  expect(after.message.content).toBe('It is wet in Oslo.');
  await expect(client.chat({ model: 'trayclaw', messages: [asked], tools: [tool] })).rejects.toThrow('An agent has its own tools');
});

test('an output format, a prompt without messages, and a request that only loads', async () => {
  const { message } = await client.chat({ model: pass, messages: [{ role: 'user', content: 'a town' }], format: parameters });
  expect(JSON.parse(message.content)).toEqual({ city: 'Oslo' });
  expect((await client.generate({ model: 'trayclaw', prompt: 'Hi', system: 'Be brief.' })).response).toBe('Hello there');
  let text = '';
  for await (const { response } of await client.generate({ model: pass, prompt: 'Hi', stream: true })) text += response;
  expect(text).toBe('Hello there');
  expect(await client.generate({ model: 'trayclaw', prompt: '' })).toMatchObject({ done: true, done_reason: 'load' });
});

test("stop words are refused as at OpenAI's API, since not every model server takes them", async () => {
  const messages = [{ role: 'user', content: 'Hi' }];
  const wanted = { status_code: 400, message: expect.stringContaining('stop words') as unknown };
  await expect(client.chat({ model: pass, messages, options: { stop: ['x'] } })).rejects.toMatchObject(wanted);
  await expect(client.generate({ model: pass, prompt: 'Hi', options: { stop: ['x'] } })).rejects.toMatchObject(wanted);
  expect((await client.chat({ model: pass, messages, options: { stop: [] } })).message.content).toBe('Hello there');
});

test('embeddings come from the model in the settings', async () => {
  const { embeddings } = await client.embed({ model: 'trayclaw/embeddings', input: ['a', 'b'] });
  expect(embeddings.map((one) => one.length)).toEqual([8, 8]);
});

test('errors: unknown model, wrong token, failure in the middle of a stream', async () => {
  const messages = [{ role: 'user', content: 'Hi' }];
  await expect(client.chat({ model: 'llama', messages })).rejects.toMatchObject({
    status_code: 404,
    error: expect.stringContaining('no model'),
  });
  await expect(clientWith('wrong').list()).rejects.toMatchObject({ status_code: 401 });
  await expect(clientWith(rig.key).list()).rejects.toMatchObject({ status_code: 401 });
  const stream = await client.chat({ model: pass, messages: [{ role: 'user', content: 'breaks' }], stream: true });
  await expect(
    (async () => {
      for await (const _ of stream);
    })(),
  ).rejects.toThrow(/model|server|stream/i);
});

test('a client that disconnects stops its turn', async () => {
  const stream = await client.chat({ model: 'trayclaw', messages: [{ role: 'user', content: 'slow' }], stream: true });
  await expect(
    (async () => {
      for await (const { message } of stream) if (message.content !== '') stream.abort();
    })(),
  ).rejects.toThrow(/abort/i);
  for await (const event of rig.claw.events({ after: 0 })) if (event.type === 'turn.finished' && event.body.status === 'cancelled') break;
});

test('one embedding by the older address', async () => {
  const { embeddings } = await client.embed({ model: 'trayclaw/embeddings', input: 'rain in Oslo' });
  expect((await client.embeddings({ model: 'trayclaw/embeddings', prompt: 'rain in Oslo' })).embedding).toEqual(embeddings[0]);
  await expect(client.embeddings({ model: 'trayclaw/embeddings', prompt: '' })).rejects.toMatchObject({ status_code: 400 });
});

test('the management of models is refused in words that the client shows', async () => {
  const message = expect.stringContaining('config.yaml') as unknown;
  await expect(client.pull({ model: 'llama' })).rejects.toMatchObject({ status_code: 400, message });
  await expect(client.push({ model: 'llama' })).rejects.toMatchObject({ status_code: 400, message });
  await expect(client.create({ model: 'llama', from: 'other' })).rejects.toMatchObject({ status_code: 400, message });
  await expect(client.copy({ source: 'llama', destination: 'other' })).rejects.toMatchObject({ status_code: 400, message });
  await expect(client.delete({ model: 'llama' })).rejects.toMatchObject({ status_code: 400, message });
  await expect(clientWith('tcd-wrong').pull({ model: 'llama' })).rejects.toMatchObject({ status_code: 401 });
});

test('a method that an address does not take is refused with the one it takes', async () => {
  const { key } = await rig.token({ door: 'ollama', name: 'methods', scope: ['all'] });
  const response = await fetch(`http://127.0.0.1:${rig.port}/api/chat`, { headers: { authorization: `Bearer ${key}` } });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  expect(await response.json()).toEqual({ error: 'This address answers POST only.' });
});
