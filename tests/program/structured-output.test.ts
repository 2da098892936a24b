// Values of a schema over every wire format, from servers that refuse what their vendors refuse: the field that enforces the schema, the
// fallback to a prompt if a server does not support it, and the validation of every answer.

import { LLMock } from '@copilotkit/aimock';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { systemClock } from '../../core/base/clock.ts';
import { silentLogger } from '../../core/base/logger.ts';
import { stillRedacted } from '../../core/base/redacted.ts';
import { configSchema, type ConfigInput } from '../../core/contracts/config.ts';
import { askValue, outputOf, type ValueAnswer } from '../../core/mind/asking/asking.ts';
import { ModelRouter } from '../../core/mind/llm/llm.ts';
import { ScriptedModel, type Answer, type WireFormat } from '../doubles/scripted-model.ts';
import type { Vendor } from '../doubles/vendors/vendors.ts';

const town = z.object({
  name: z.string().min(1).max(40).describe('As it is written there.'),
  size: z.enum(['small', 'large']).optional(),
  people: z.number().int().positive(),
  twins: z.array(z.object({ name: z.string(), since: z.int().optional() })).optional(),
  mayor: z.union([z.string(), z.object({ name: z.string() })]).nullable(),
  notes: z.record(z.string(), z.string()).optional(),
});
const output = outputOf('town', town);
const berlin = { name: 'Berlin', people: 3_700_000, mayor: null };
const good = JSON.stringify(berlin);
const bad = '{"name":"","people":1,"mayor":null}';

async function ask(config: ConfigInput, model = 'lab/scripted', times = 1): Promise<ValueAnswer<z.infer<typeof town>>> {
  const router = new ModelRouter({
    config: configSchema.parse({ ...config, models: { retries: 0 } }),
    secrets: { resolve: () => Promise.resolve('sk-key') },
    clock: systemClock,
    logger: silentLogger,
    localServers: [],
  });
  onTestFinished(() => router.close());
  const reservation = { settle: () => undefined };
  const deps = {
    clock: systemClock,
    later: () => () => undefined,
    budget: { reserve: () => ({ ok: true as const, reservation, unpriced: [], room: { usd: null, tokens: null } }) },
    models: router,
    count: (text: string) => text.length,
    redact: stillRedacted,
  };
  const place = { sessionId: 's', turnId: 't', continues: [] };
  const question = { model, place, system: 'Be brief.', text: 'Berlin?', maxOutputTokens: 500, timeoutMs: 5_000 };
  const signal = new AbortController().signal;
  for (let left = times; left > 1; left--) await askValue(deps, question, output, signal);
  return askValue(deps, question, output, signal);
}

const fields: Readonly<Record<WireFormat, string>> = {
  openai: 'response_format',
  responses: 'text',
  anthropic: 'output_config',
  ollama: 'format',
};
const reply = (text: string): Answer => ({ text, usage: { input: 10, output: 5 }, pieceChars: 7 });
const refusals: Readonly<Record<WireFormat, string>> = {
  openai: "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
  responses: "Unsupported parameter: 'text.format' is not supported with this model.",
  anthropic: 'output_config.format: Extra inputs are not permitted',
  ollama: 'invalid JSON schema in format',
};

async function scripted(answers: readonly Answer[]): Promise<ScriptedModel> {
  const server = await ScriptedModel.start(answers.map((answer) => ({ times: 1, answer })));
  onTestFinished(() => server.close());
  return server;
}

describe.each(['openai', 'responses', 'anthropic', 'ollama'] as const)('over %s', (format) => {
  test.each<[string, readonly Answer[], number]>([
    ['valid at once', [reply(good)], 1],
    ['fenced', [reply(`\`\`\`json\n${good}\n\`\`\``)], 1],
    ['wrong, then right', [reply(bad), reply(good)], 2],
  ])('an answer that is %s gives the value', async (_what, answers, calls) => {
    const server = await scripted(answers);
    const answer = await ask(server.config(format));
    expect(server.violations).toEqual([]);
    expect(answer).toMatchObject({ value: berlin, spent: { usage: { inputTokens: 10 * calls, outputTokens: 5 * calls } } });
    expect(server.requests.map(({ body }) => fields[format] in body)).toEqual(Array(calls).fill(true));
    if (calls === 2) expect(server.requests[1]?.notes.join('')).toContain('name must');
  });

  test.each<[string, readonly Answer[], string]>([
    ['wrong twice', [reply(bad), reply(bad)], 'name must'],
    ['cut off', [{ text: good.slice(0, 12), finish: 'length' }], 'was cut off'],
  ])('an answer that is %s gives no value', async (_what, answers, why) => {
    const server = await scripted(answers);
    const answer = await ask(server.config(format));
    expect('refused' in answer && answer.refused).toContain(why);
    expect(server.requests).toHaveLength(answers.length);
  });

  test('a server that rejects the field is prompted in words from then on', async () => {
    const server = await scripted([{ refuse: 'rejected', message: refusals[format] }, reply(good), reply(good)]);
    expect(await ask(server.config(format), 'lab/scripted', 2)).toMatchObject({ value: berlin });
    expect(server.requests.map(({ body }) => fields[format] in body)).toEqual([true, false, false]);
    for (const { system } of server.requests) expect(system).toContain('"people":{"type":"integer"');
  });
});

const strict = (server: ScriptedModel, preset?: 'openai' | 'groq' | 'deepseek' | 'mistral' | 'gemini' | 'xai'): ConfigInput => ({
  providers: {
    lab: { kind: 'openai-compatible', baseUrl: `${server.origin}/v1`, apiKey: 'env:K', ...(preset === undefined ? {} : { preset }) },
  },
});

test.each<[Exclude<Vendor, 'anthropic' | 'ollama' | 'responses'>, string, readonly boolean[]]>([
  ['openai', 'gpt-5.6', [true]],
  ['openai', 'gpt-4', [true, false]],
  ['groq', 'llama-4', [true]],
  ['groq', 'llama-3.3-70b', [true, false]],
  ['deepseek', 'deepseek-chat', [false]],
  ['mistral', 'mistral-large', [true]],
  ['gemini', 'gemini-3-pro', [true]],
  ['xai', 'grok-4', [true]],
])('%s with %s accepts the schema, or works without it', async (vendor, model, sent) => {
  const server = await ScriptedModel.start([{ answer: reply(good) }], { vendor });
  onTestFinished(() => server.close());
  const config = strict(server, vendor as 'openai');
  expect(await ask(config, `lab/${model}`)).toMatchObject({ value: berlin });
  expect(server.requests.map(({ body }) => 'response_format' in body)).toEqual(sent);
});

test('OpenAI gets the strict form: closed objects, required keys, nullable options', async () => {
  const server = await ScriptedModel.start([{ answer: reply(JSON.stringify({ ...berlin, size: null, twins: null, notes: null })) }]);
  onTestFinished(() => server.close());
  expect(await ask(strict(server, 'openai'), 'lab/gpt-5.6')).toMatchObject({ value: berlin });
  expect(server.requests[0]?.body['response_format']).toMatchObject({
    json_schema: {
      strict: true,
      schema: {
        additionalProperties: false,
        required: ['name', 'size', 'people', 'twins', 'mayor', 'notes'],
        properties: { size: { anyOf: [{ type: 'string', enum: ['small', 'large'] }, { type: 'null' }] } },
      },
    },
  });
});

test('a schema beyond the limits of strict mode is sent as it is', async () => {
  const many = outputOf('many', z.object({ a: z.enum(values('a', 300)), b: z.enum(values('b', 300)) }));
  const server = await ScriptedModel.start([{ answer: reply(good) }]);
  onTestFinished(() => server.close());
  const router = new ModelRouter({
    config: configSchema.parse(strict(server, 'openai')),
    secrets: { resolve: () => Promise.resolve('sk-key') },
    clock: systemClock,
    logger: silentLogger,
    localServers: [],
  });
  onTestFinished(() => router.close());
  const request = { system: '', tools: [], messages: [{ role: 'user' as const, text: 'hi' }], output: many.form };
  await router.stream('lab/gpt-5.6', request, { text: () => undefined }, { signal: new AbortController().signal });
  expect(server.requests[0]?.body['response_format']).toEqual({
    type: 'json_schema',
    json_schema: { name: 'many', schema: many.form.schema },
  });
});

const values = (letter: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${letter}${index}`);

test.each([
  [
    'the OpenAI wire',
    { id: 'c', choices: [{ index: 0, delta: { refusal: 'I cannot help with that.' }, finish_reason: 'stop' }] },
    'openai',
  ],
  ['the Anthropic wire', { type: 'message', content: [{ type: 'text', text: 'No.' }], stop_reason: 'refusal' }, 'anthropic'],
] as const)('a refusal over %s is not a reason to ask again', async (_wire, body, format) => {
  const raw = format === 'openai' ? `data: ${JSON.stringify(body)}\n\ndata: [DONE]\n\n` : JSON.stringify(body);
  const server = await scripted([{ raw }, reply(good)]);
  expect(await ask(server.config(format))).toMatchObject({ refused: 'the model refused to answer' });
  expect(server.requests).toHaveLength(1);
});

test('the offline demo invents no value', async () => {
  await expect(ask({}, 'demo/offline')).rejects.toMatchObject({ code: 'model_rejected', data: { hint: expect.any(String) as unknown } });
});

test.each(['openai', 'anthropic', 'ollama'] as const)('an independent server accepts the schema over %s', async (kind) => {
  const mock = new LLMock({ port: 0, chunkSize: 8, host: '127.0.0.1' });
  mock.on({ userMessage: 'Berlin' }, { content: good });
  await mock.start();
  onTestFinished(() => mock.stop());
  const lab =
    kind === 'ollama' ? { kind, baseUrl: mock.url } : { kind, apiKey: 'env:K', baseUrl: kind === 'openai' ? `${mock.url}/v1` : mock.url };
  expect(await ask({ providers: { lab } }, 'lab/gpt-4o')).toMatchObject({ value: berlin });
  expect(mock.getRequests().length).toBe(1);
});
