import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChatMessage, ModelRequest } from '../../contracts/llm.ts';
import { createAnthropicFormat } from './anthropic-format.ts';
import { assistant, plainServer, createRequest, note, result, user } from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { noWords } from './wire-words.ts';
import { createOpenAiFormat, needsNoReasoningWithTools } from './openai-format.ts';
import { RequestBodies, type WireFormat } from './request-body.ts';

const openAi = (): WireFormat => createOpenAiFormat({ seesImages: true, ...plainServer, needsNoReasoningWithTools });
const anthropic = (): WireFormat =>
  createAnthropicFormat({ seesImages: true, maxOutputTokens: () => 4096, before: () => [], refused: noWords });
const formats = { openAi, anthropic };

function send(bodies: RequestBodies, request: ModelRequest): unknown {
  const lease = bodies.lease(request);
  const text = lease.bytes.toString('utf8');
  lease.release(true);
  return JSON.parse(text);
}

/** A fresh serialisation of the same request. */
function fresh(format: WireFormat, request: ModelRequest): unknown {
  return send(new RequestBodies(format), { ...request, messages: [...request.messages] });
}

/** A message that counts how often its text is read. */
function counted(message: ChatMessage, reads: Map<ChatMessage, number>): ChatMessage {
  const wrapped: ChatMessage = Object.defineProperty({ ...message }, 'text', {
    enumerable: true,
    get: () => (reads.set(wrapped, (reads.get(wrapped) ?? 0) + 1), message.text),
  });
  return wrapped;
}

test('an OpenAI body contains all parts in place', () => {
  const messages = [user('Wetter? 東京 🚀'), assistant('', 'call_1'), result('call_1', '21 °C'), assistant('21'), note('be quick')];
  expect(send(new RequestBodies(openAi()), createRequest(messages, { maxOutputTokens: 99 }))).toEqual({
    model: 'some-model',
    stream: true,
    stream_options: { include_usage: true },
    tools: [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: 'Says the weather of a city.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      },
    ],
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Wetter? 東京 🚀' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"call_1"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '21 °C' },
      { role: 'assistant', content: '21' },
      { role: 'user', content: '<runtime-note>\nbe quick\n</runtime-note>' },
    ],
    max_tokens: 99,
  });
});

test('an Anthropic body merges results and text into one user message with cache marks', () => {
  const messages = [
    user('go'),
    assistant('Both.', 'a.b:1', 'c'),
    result('c', 'no', true),
    note('hurry'),
    result('a.b:1', 'yes'),
    user('  '),
    assistant(''),
  ];
  expect(send(new RequestBodies(anthropic()), createRequest(messages))).toEqual({
    model: 'some-model',
    stream: true,
    tools: [
      {
        name: 'get_weather',
        description: 'Says the weather of a city.',
        input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        cache_control: { type: 'ephemeral' },
      },
    ],
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Both.' },
          { type: 'tool_use', id: expect.stringMatching(/^[a-z0-9]{9}$/) as unknown, name: 'get_weather', input: { city: 'a.b:1' } },
          { type: 'tool_use', id: 'c', name: 'get_weather', input: { city: 'c' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: expect.stringMatching(/^[a-z0-9]{9}$/) as unknown, content: 'yes' },
          { type: 'tool_result', tool_use_id: 'c', content: 'no', is_error: true },
          { type: 'text', text: '<runtime-note>\nhurry\n</runtime-note>' },
          { type: 'text', text: '(empty)', cache_control: { type: 'ephemeral' } },
        ],
      },
    ],
    max_tokens: 4096,
  });
});

test('the last block of an Anthropic request carries the cache mark until more follows', () => {
  const bodies = new RequestBodies(anthropic());
  const messages = [user('one')];
  const contents = (): unknown =>
    (send(bodies, createRequest(messages)) as { messages: { content: unknown }[] }).messages.map((one) => one.content);
  const mark = { cache_control: { type: 'ephemeral' } };
  const one = { type: 'text', text: 'one' };
  expect(contents()).toEqual([[{ ...one, ...mark }]]);
  messages.push(user('two'));
  expect(contents()).toEqual([[one, { type: 'text', text: 'two', ...mark }]]);
  messages.push(assistant('ok'), user('three'));
  expect(contents()).toEqual([
    [one, { type: 'text', text: 'two' }],
    [{ type: 'text', text: 'ok' }],
    [{ type: 'text', text: 'three', ...mark }],
  ]);
});

test('an Anthropic conversation without its start begins with a user message', () => {
  const body = send(new RequestBodies(anthropic()), createRequest([assistant('so'), user('go on')])) as { messages: { role: string }[] };
  expect(body.messages.map((message) => message.role)).toEqual(['user', 'assistant', 'user']);
});

test('arguments that are not objects, odd tool names and lone surrogates are made safe', () => {
  const messages: ChatMessage[] = [
    user('cut \ud83d'),
    {
      role: 'assistant',
      text: '',
      calls: [
        { id: '1', tool: 'functions.read file', args: '{"path": "a' },
        { id: '2', tool: '', args: '' },
        { id: '3', tool: 'calc', args: '[1]' },
      ],
    },
  ];
  const body = JSON.stringify(send(new RequestBodies(anthropic()), createRequest(messages)));
  expect(body).toContain('"name":"functions_read_file","input":{"_raw":"{\\"path\\": \\"a"}');
  expect(body).toContain('"name":"unnamed","input":{}');
  expect(body).toContain('"input":{"_raw":"[1]"}');
  expect(body).toContain('cut \uFFFD');
  expect(JSON.stringify(send(new RequestBodies(openAi()), createRequest(messages)))).toContain('"arguments":"{\\"_raw\\":\\"[1]\\"}"');
});

test('a call without a result gets one, and the real one replaces it later', () => {
  const messages: ChatMessage[] = [user('go'), assistant('', 'a', 'b'), result('a', 'A')];
  const bodies = new RequestBodies(openAi());
  const roles = (body: unknown): unknown => (body as { messages: { role: string; content: string }[] }).messages.slice(3);
  expect(roles(send(bodies, createRequest(messages)))).toEqual([
    { role: 'tool', tool_call_id: 'a', content: 'A' },
    { role: 'tool', tool_call_id: 'b', content: 'Cancelled: no result was recorded for this call.' },
  ]);
  messages.push(user('and?'), result('b', 'B'), result('gone', 'G'));
  expect(roles(send(bodies, createRequest(messages)))).toEqual([
    { role: 'tool', tool_call_id: 'a', content: 'A' },
    { role: 'tool', tool_call_id: 'b', content: 'B' },
    { role: 'user', content: 'and?' },
    { role: 'user', content: '<runtime-note>\nResult of an earlier call of get_weather:\nG\n</runtime-note>' },
  ]);
});

test('a note cannot close its own tag', () => {
  const body = JSON.stringify(send(new RequestBodies(openAi()), createRequest([note('x</runtime-note>y')])));
  expect(body.match(/<\/runtime-note/g)).toHaveLength(1);
});

const anyMessage: fc.Arbitrary<ChatMessage> = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }).map(user),
  fc.string({ maxLength: 5 }).map(note),
  fc.tuple(fc.string({ maxLength: 5 }), fc.subarray(['a', 'b', 'c'])).map(([text, ids]) => assistant(text, ...ids)),
  fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.string({ maxLength: 300 })).map(([id, text]) => result(id, text)),
);
const anyStep = fc.record({
  added: fc.array(anyMessage, { maxLength: 4 }),
  system: fc.constantFrom('', 'one', 'two — longer'),
  isHeld: fc.boolean(),
  isClean: fc.boolean(),
});

test.each(Object.entries(formats))('%s: a cached body equals a fresh one, whatever is appended and in flight', (_name, create) => {
  fc.assert(
    fc.property(fc.array(anyStep, { minLength: 1, maxLength: 12 }), (steps) => {
      const bodies = new RequestBodies(create());
      const messages: ChatMessage[] = [];
      const held: { bytes: Buffer; copy: string; release: (isClean: boolean) => void }[] = [];
      const { tools } = createRequest([]);
      for (const step of steps) {
        messages.push(...step.added);
        const request = createRequest(messages, { system: step.system, tools });
        const lease = bodies.lease(request);
        expect(JSON.parse(lease.bytes.toString('utf8'))).toEqual(fresh(create(), request));
        if (step.isHeld || !step.isClean) held.push({ ...lease, copy: lease.bytes.toString('latin1') });
        if (!step.isHeld) lease.release(step.isClean);
        // Bytes that are being sent, or may still be in a socket, must not change.
        for (const other of held) expect(other.bytes.toString('latin1')).toBe(other.copy);
      }
      for (const other of held) other.release(true);
      expect(send(bodies, createRequest(messages, { tools }))).toEqual(fresh(create(), createRequest(messages, { tools })));
    }),
    { numRuns: 150 },
  );
});

test.each(Object.entries(formats))(
  '%s: each message is serialised once, though the session grows, the system text changes and a call is repeated',
  (_name, create) => {
    const reads = new Map<ChatMessage, number>();
    const bodies = new RequestBodies(create());
    const messages: ChatMessage[] = [];
    const { tools } = createRequest([]);
    for (let step = 0; step < 50; step++) {
      for (const message of step === 0 ? [user('go')] : [assistant('hm', `c${step}`), result(`c${step}`, 'r'), note('n')]) {
        messages.push(counted(message, reads));
      }
      if (step % 7 === 0) messages.push(counted(user('more'), reads));
      const request = createRequest(messages, { tools, system: `system ${Math.floor(step / 20)}` });
      bodies.lease(request).release(step % 5 !== 0);
      bodies.lease(request).release(true);
    }
    expect(messages.length).toBeGreaterThan(150);
    // A text is read at most twice: to check whether it is blank, and to write it.
    for (const message of messages) expect(reads.get(message) ?? 0).toBeLessThanOrEqual(message.role === 'assistant' ? 3 : 2);
  },
);

test('a shortened or replaced past is noticed and rewritten', () => {
  const bodies = new RequestBodies(openAi());
  const messages: ChatMessage[] = [user('one'), assistant('two'), user('three')];
  send(bodies, createRequest(messages));
  messages.length = 1;
  expect(send(bodies, createRequest(messages))).toEqual(fresh(openAi(), createRequest(messages)));
  messages[0] = user('other');
  messages.push(assistant('again'));
  expect(send(bodies, createRequest(messages))).toEqual(fresh(openAi(), createRequest(messages)));
});

test('models that accept tools only without reasoning get a request without it', () => {
  const bodies = new RequestBodies(openAi());
  const keys = (modelId: string): boolean => 'reasoning_effort' in (send(bodies, createRequest([user('x')], { modelId })) as object);
  expect(['gpt-5.6', 'gpt-5.10-mini', 'gpt-6', 'gpt-6-astra', 'gpt-10'].filter((modelId) => !keys(modelId))).toEqual([]);
  expect(['gpt-5', 'gpt-5.5', 'gpt-4o', 'gpt-oss-120b'].filter(keys)).toEqual([]);
});

test('building the body for message 2,000 costs about as much as for message 20', () => {
  const bodies = new RequestBodies(openAi());
  const { tools } = createRequest([]);
  const messages: ChatMessage[] = [user('go')];
  const step = (): number => {
    const id = `call_${messages.length}`;
    messages.push(assistant('', id), result(id, 'x'.repeat(200)));
    const from = process.hrtime.bigint();
    bodies.lease(createRequest(messages, { tools })).release(true);
    return Number(process.hrtime.bigint() - from);
  };
  const median = (count: number): number => {
    const times = Array.from({ length: count }, step).sort((a, b) => a - b);
    return times[Math.floor(count / 2)] ?? 0;
  };
  for (let i = 0; i < 300; i++) step();
  messages.length = 1;
  const early = median(60);
  while (messages.length < 1_960) step();
  const late = median(60);
  process.stdout.write(`body step: ${early} ns near message 60, ${late} ns near message 2,000\n`);
  // Serialising all 2,000 messages again takes some hundred times as long; this leaves much room for a busy machine.
  expect(late).toBeLessThan(early * 15 + 50_000);
});
