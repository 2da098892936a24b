// Any conversation, however broken, becomes a request that its vendor accepts, at every step of its growth.

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChatMessage, ModelRequest } from '../../contracts/llm.ts';
import type { ServerName } from '../../contracts/server-names.ts';
import { refusalWords, vendorRefusal, vendors, type Vendor } from '../../../tests/doubles/vendors/vendors.ts';
import { createAnthropicFormat } from './anthropic-format.ts';
import { createInWordsFormat } from './in-words-format.ts';
import { createOllamaFormat } from './ollama-format.ts';
import { createOpenAiFormat } from './openai-format.ts';
import { createResponsesFormat } from './responses-format.ts';
import { RequestBodies, type WireFormat } from './request-body.ts';
import { serverProfile } from './server-profile.ts';

const parameters = { type: 'object', properties: { path: { type: 'string' } } };
const tools: ModelRequest['tools'] = [{ name: 'read', description: 'Reads.', parameters }];
const noWords: ReadonlySet<string> = new Set();
const anthropic = createAnthropicFormat({ seesImages: true, maxOutputTokens: () => 100, before: () => [], refused: noWords });
const ollama = createOllamaFormat({ seesImages: true, contextTokens: () => 8192, thinkingBefore: () => '', refused: noWords });
const chat = (preset: ServerName, modelId: string): readonly [Vendor, string, WireFormat] => [
  vendors.find((vendor) => vendor === preset) ?? 'openai',
  modelId,
  createOpenAiFormat({
    seesImages: true,
    profile: serverProfile('http://127.0.0.1', preset),
    refused: noWords,
    keptOf: () => undefined,
    needsNoReasoningWithTools: () => false,
  }),
];

const thought = '{"type":"reasoning","summary":[],"encrypted_content":"gAAAAx"}';
const responses = (before: readonly string[]): WireFormat =>
  createResponsesFormat({
    seesImages: true,
    profile: serverProfile('http://127.0.0.1', 'openai'),
    refused: noWords,
    before: (callId) => (callId === 'call_1' ? before : []),
  });

const inWords = ([vendor, , format]: readonly [Vendor, string, WireFormat], modelId: string): readonly [Vendor, string, WireFormat] => [
  vendor,
  modelId,
  createInWordsFormat(format),
];

const formats: readonly (readonly [Vendor, string, WireFormat])[] = [
  chat('openai', 'gpt-4o'),
  chat('openai', 'gpt-5'),
  chat('groq', 'llama-4'),
  chat('deepseek', 'deepseek-v4'),
  chat('gemini', 'gemini-3-pro'),
  chat('mistral', 'mistral-large'),
  chat('xai', 'grok-4'),
  chat('openrouter', 'openai/gpt-4o'),
  chat('llamacpp', 'local'),
  chat('lmstudio', 'local'),
  ['responses', 'gpt-5.6', responses([thought, '', thought])],
  ['responses', 'gpt-4.1', responses([])],
  ['anthropic', 'claude-sonnet-4-5', anthropic],
  ['anthropic', 'claude-opus-4-8', anthropic],
  ['ollama', 'qwen3', ollama],
  inWords(['ollama', '', ollama], 'gemma'),
  inWords(chat('lmstudio', ''), 'local'),
  inWords(chat('mistral', ''), 'mistral-large'),
];
const [, , openAi] = chat('openai', 'gpt-4o');

const anyText = fc.oneof(fc.constantFrom('', ' ', '\n', 'words', 'ends in a space ', '\uD800'), fc.string({ maxLength: 20 }));
const anyId = fc.oneof(
  fc.constantFrom('call_1', 'call_2', 'a.b:3', 'functions.read:0', 'x'.repeat(70)),
  fc.stringMatching(/^[a-zA-Z0-9]{9}$/),
);
const image = { name: 'a.png', mediaType: 'image/png', base64: 'AAAA' };
const anyArgs = fc.oneof(fc.constantFrom('{}', '{"path":"a"}', '', 'not json', '[1]'), fc.json());
const anyMessage: fc.Arbitrary<ChatMessage> = fc.oneof(
  fc.record({ role: fc.constant('user' as const), text: anyText, images: fc.constantFrom([], [image]) }),
  fc.record({ role: fc.constant('note' as const), text: anyText }),
  fc.record({
    role: fc.constant('assistant' as const),
    text: anyText,
    calls: fc.uniqueArray(fc.record({ id: anyId, tool: fc.constantFrom('read', 'no such.tool', ''), args: anyArgs }), {
      maxLength: 3,
      selector: ({ id }) => id,
    }),
  }),
  fc.record(
    {
      role: fc.constant('tool' as const),
      id: anyId,
      tool: fc.constant('read'),
      text: anyText,
      isError: fc.boolean(),
      images: fc.constant([image]),
    },
    { requiredKeys: ['role', 'id', 'tool', 'text', 'isError'] },
  ),
);

/** Gives each call a unique id in the conversation, as the program does. */
function withOwnIds(messages: readonly ChatMessage[]): ChatMessage[] {
  const seen = new Set<string>();
  return messages.map((message) => {
    if (message.role !== 'assistant') return message;
    const calls = message.calls.filter(({ id }) => !seen.has(id));
    for (const { id } of calls) seen.add(id);
    return { ...message, calls };
  });
}

test.each(formats)('%s (%s) accepts whatever the conversation contains', (vendor, modelId, format) => {
  fc.assert(
    fc.property(fc.array(anyMessage, { minLength: 1, maxLength: 12 }), fc.option(anyText, { nil: undefined }), (given, tail) => {
      const all = withOwnIds(given);
      const bodies = new RequestBodies(format);
      const messages: ChatMessage[] = [{ role: 'user', text: 'hello' }];
      for (const message of all) {
        messages.push(message);
        const lease = bodies.lease({ modelId, system: 'Be brief.', tools, messages, ...(tail === undefined ? {} : { tail }) });
        const body = JSON.parse(lease.bytes.toString('utf8')) as Record<string, unknown>;
        lease.release(true);
        const no = vendorRefusal(vendor, body);
        if (no !== null) throw new Error(refusalWords(no));
      }
    }),
    { numRuns: 150 },
  );
});

test('missing and empty results are marked as such, and empty answers are left out', () => {
  const messages: ChatMessage[] = [
    { role: 'user', text: 'go' },
    { role: 'assistant', text: '', calls: [{ id: 'c1', tool: 'read', args: '{}' }, { id: 'c2', tool: 'read', args: '{}' }] }, // prettier-ignore
    { role: 'tool', id: 'c2', tool: 'read', text: '', isError: false },
    { role: 'assistant', text: ' ', calls: [] },
  ];
  const bytes = new RequestBodies(openAi).lease({ modelId: 'm', system: '', tools, messages }).bytes;
  const { messages: sent } = JSON.parse(bytes.toString('utf8')) as { messages: { role: string; content: string | null }[] };
  expect(sent.map(({ role, content }) => [role, content])).toEqual([
    ['user', 'go'],
    ['assistant', null],
    ['tool', 'Cancelled: no result was recorded for this call.'],
    ['tool', '(no output)'],
  ]);
});

test('a conversation that ends with an answer asks to continue, in that request only', () => {
  const bodies = new RequestBodies(anthropic);
  const messages: ChatMessage[] = [{ role: 'user', text: 'go' }, { role: 'assistant', text: 'I began', calls: [] }]; // prettier-ignore
  const send = (): { role: string }[] => {
    const lease = bodies.lease({ modelId: 'm', system: '', tools, messages });
    lease.release(true);
    return (JSON.parse(lease.bytes.toString('utf8')) as { messages: { role: string }[] }).messages;
  };
  expect(send().map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  messages.push({ role: 'user', text: 'what else?' });
  expect(JSON.stringify(send())).not.toContain('Go on.');
});

test.each(formats)('%s (%s) shows pictures of a result after the results, or mentions them', (_vendor, modelId, format) => {
  const calls = ['c1', 'c2'].map((id) => ({ id, tool: 'browser', args: '{}' }));
  const messages: ChatMessage[] = [
    { role: 'user', text: 'look' },
    { role: 'assistant', text: '', calls },
    { role: 'tool', id: 'c1', tool: 'browser', text: 'Took a picture.', isError: false, images: [image] },
    { role: 'tool', id: 'c2', tool: 'browser', text: 'Done.', isError: false },
  ];
  const body = new RequestBodies(format).lease({ modelId, system: '', tools, messages }).bytes.toString('utf8');
  const shown = body.includes('AAAA') ? body.indexOf('AAAA') : body.indexOf('browser returned the image');
  expect(shown).toBeGreaterThan(body.indexOf('Done.'));
});
