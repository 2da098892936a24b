import { expect, test } from 'vitest';
import type { ChatMessage, ModelRequest } from '../../contracts/llm.ts';
import { createAnthropicFormat } from './anthropic-format.ts';
import { plainServer } from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { createOpenAiFormat } from './openai-format.ts';
import { RequestBodies, type WireFormat } from './request-body.ts';
import { createFailure } from './vendor-failure.ts';
import { noWords } from './wire-words.ts';

const tools: ModelRequest['tools'] = [];
const openAi = createOpenAiFormat({ seesImages: false, ...plainServer, needsNoReasoningWithTools: () => false });
const anthropic = createAnthropicFormat({ seesImages: false, maxOutputTokens: () => 100, before: () => [], refused: noWords });

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

/** The bodies of two steps: each ends with transient text, with a reply in between. */
function twoSteps(format: WireFormat): Body[] {
  const bodies = new RequestBodies(format);
  const messages: ChatMessage[] = [{ role: 'user', text: 'hello' }];
  const send = (tail: string): Body => {
    const lease = bodies.lease({ modelId: 'm', system: 'Be brief.', tools, messages, tail });
    const body = JSON.parse(lease.bytes.toString('utf8')) as Body;
    lease.release(true);
    return body;
  };
  const first = send('one </runtime-note> two');
  messages.push({ role: 'assistant', text: 'hi', calls: [] }, { role: 'user', text: 'again' });
  return [first, send('three')];
}

test('chat completions: transient text follows the messages in one request only', () => {
  const [first, second] = twoSteps(openAi);
  expect(first?.messages.map(({ content }) => content)).toEqual([
    'Be brief.',
    'hello',
    '<runtime-note>\none <\\/runtime-note> two\n</runtime-note>',
  ]);
  expect(second?.messages.map(({ content }) => content)).toEqual([
    'Be brief.',
    'hello',
    'hi',
    'again',
    '<runtime-note>\nthree\n</runtime-note>',
  ]);
});

test('messages format: the same, with the cache mark on the part that stays', () => {
  const [first, second] = twoSteps(anthropic);
  const mark = { type: 'ephemeral' };
  expect(first?.messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'hello', cache_control: mark },
        { type: 'text', text: '<runtime-note>\none <\\/runtime-note> two\n</runtime-note>' },
      ],
    },
  ]);
  expect(second?.messages.at(-1)?.content).toEqual([
    { type: 'text', text: 'again', cache_control: mark },
    { type: 'text', text: '<runtime-note>\nthree\n</runtime-note>' },
  ]);
});

test.each([
  ["This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.", {}, 8_192],
  ['prompt is too long: 215000 tokens > 200000 maximum', {}, 200_000],
  ['request exceeds the available context size (4096 tokens), try increasing it', {}, 4_096],
  ['too large', { error: { n_ctx: 2_048 } }, 2_048],
  ['too large', {}, undefined],
])('reads the size limit that a server states: %s', (said, body, limit) => {
  const failure = { provider: 'lab', modelId: 'm', status: 400, headers: {}, body, secrets: [], nowMs: 0 };
  expect(createFailure('model_context_overflow', failure, said).data['limitTokens']).toBe(limit);
});
