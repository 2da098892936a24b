// Anthropic's thinking: newer models bind it to everything before it. It is sent back where it was, and forgotten once it is refused.

import { expect, test } from 'vitest';
import { ScriptedModel } from '../../../tests/doubles/scripted-model.ts';
import { createRequest, createRouter, RecordingSink, result, user } from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { ScriptedServer } from '../../../tests/rigs/core/mind/llm/scripted-server.ts';
import type { ChatMessage, ModelRequest } from '../../contracts/llm.ts';
import type { ModelRouter } from './llm.ts';

interface Block {
  readonly type: string;
}

const call = { tool: 'get_weather', args: { city: 'Rome' } };
const { signal } = new AbortController();

const routerTo = (baseUrl: string): ModelRouter =>
  createRouter({ providers: { lab: { kind: 'anthropic', apiKey: 'env:KEY', baseUrl } }, models: { retries: 0 } });

/** Asks, and adds the answer and the results of its calls to the conversation. */
async function step(router: ModelRouter, messages: ChatMessage[], more: Partial<ModelRequest> = {}): Promise<void> {
  const reply = await router.stream('lab/claude-fable-5-2', createRequest(messages, more), new RecordingSink(), { signal });
  messages.push({ role: 'assistant', text: reply.text, calls: reply.calls }, ...reply.calls.map(({ id }) => result(id, 'sunny')));
}

/** How many blocks of thinking each request contained. */
const thoughts = (model: ScriptedModel): number[] =>
  model.requests.map(({ body }) => JSON.stringify(body['messages']).split('"type":"thinking"').length - 1);

test('thinking is sent back as long as nothing before it has changed', async () => {
  await using model = await ScriptedModel.start([{ answer: { reasoning: 'Hm.', calls: [call] } }]);
  const router = routerTo(model.origin);
  const messages = [user('weather?')];
  for (let i = 0; i < 3; i++) await step(router, messages);
  await router.close();
  expect([thoughts(model), model.violations]).toEqual([[0, 1, 2], []]);
});

test.each<[string, Partial<ModelRequest>]>([
  ['transient text', { tail: 'It is late.' }],
  ['another system prompt', { system: 'Be kind.' }],
  ['other tools', { tools: [] }],
])('thinking that is refused after %s is forgotten, and the request repeated', async (_what, first) => {
  await using model = await ScriptedModel.start([{ answer: { reasoning: 'Hm.', text: 'I look.', calls: [call] } }]);
  const router = routerTo(model.origin);
  const messages = [user('weather?')];
  await step(router, messages, first);
  for (let i = 0; i < 2; i++) await step(router, messages);
  // And again, for the same model.
  await step(router, messages, { system: 'Be quick.' });
  await router.close();
  expect(thoughts(model)).toEqual([0, 1, 0, 1, 2, 0]);
  expect(model.violations).toEqual(Array(2).fill(expect.stringContaining('bound to a different conversation')));
});

test('once it was refused, thinking after transient text is not sent back', async () => {
  await using model = await ScriptedModel.start([{ answer: { reasoning: 'Hm.', calls: [call] } }]);
  const router = routerTo(model.origin);
  const messages = [user('weather?')];
  for (let i = 0; i < 4; i++) await step(router, messages, { tail: `It is ${i} o'clock.` });
  await router.close();
  expect([thoughts(model), model.violations.length]).toEqual([[0, 1, 0, 0, 0], 1]);
});

const event = (type: string, more: object): string => `data: ${JSON.stringify({ type, ...more })}\n\n`;
const whole = (index: number, content_block: object): string => event('content_block_start', { index, content_block });

test('thinking between text and calls stays where it was', async () => {
  const parts = [
    { type: 'thinking', thinking: 'a', signature: 's1' },
    { type: 'text', text: 'I look.' },
    { type: 'redacted_thinking', data: 'b' },
    { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Rome' } },
    { type: 'thinking', thinking: '', signature: 's2' },
    { type: 'tool_use', id: 'toolu_2', name: 'get_weather', input: { city: 'Oslo' } },
  ];
  const answer = { chunks: [...parts.map((part, index) => whole(index, part)), event('message_stop', {})] };
  await using server = await ScriptedServer.start(answer, answer);
  const router = routerTo(server.url);
  const messages = [user('weather?')];
  for (let i = 0; i < 2; i++) await step(router, messages);
  await router.close();
  const body = JSON.parse(server.seen[1]?.body ?? '{}') as { messages: { content: Block[] }[] };
  expect(body.messages[1]?.content).toEqual(parts);
});
