// OpenAI's Responses API: answers in events, whole, truncated and refused, and the reasoning that is sent back with calls.
// message-shape.test.ts tests that it accepts any conversation, tests/program/vendors.test.ts a whole session.

import { expect, test } from 'vitest';
import { ScriptedModel } from '../../../tests/doubles/scripted-model.ts';
import type { ChatMessage } from '../../contracts/llm.ts';
import { createRequest, createRouter, failureOf, RecordingSink, user } from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { ScriptedServer, type Script } from '../../../tests/rigs/core/mind/llm/scripted-server.ts';

const event = (type: string, more: object = {}): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const begins = (output_index: number, item: object): string => event('response.output_item.added', { output_index, item });
const completes = (output_index: number, item: object): string => event('response.output_item.done', { output_index, item });
const says = (delta: string): string => event('response.output_text.delta', { output_index: 0, delta });
const ends = (more: object = {}): string =>
  event('response.completed', {
    response: {
      status: 'completed',
      output: [],
      usage: { input_tokens: 9, input_tokens_details: { cached_tokens: 4 }, output_tokens: 3 },
      ...more,
    },
  });
const call = (id: string, args: string) => ({ type: 'function_call', id: `fc_${id}`, call_id: id, name: 'get_weather', arguments: args });
const message = (text: string) => ({ type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text }] });
const rome = '{"city":"Rome"}';

async function asked(script: Script) {
  await using server = await ScriptedServer.start(script);
  const provider = { kind: 'openai-compatible' as const, format: 'responses' as const, baseUrl: `${server.url}/v1` };
  const router = createRouter({ providers: { lab: provider }, models: { retries: 0, timeouts: { idleMs: 200 } } });
  const sink = new RecordingSink();
  const answer = router.stream('lab/m', createRequest([user('hi')]), sink, { signal: new AbortController().signal });
  const outcome = await answer.catch((cause: unknown) => failureOf(Promise.reject(cause as Error)));
  await router.close();
  expect(server.seen[0]?.path).toBe('/v1/responses');
  return outcome;
}

test.each<[string, string, object]>([
  ['text', says('He') + says('llo') + ends(), { text: 'Hello', finishReason: 'stop', usage: { inputTokens: 9, outputTokens: 3, cachedInputTokens: 4 } }], // prettier-ignore
  ['text that arrives only as a whole', completes(0, message('Hello')) + ends(), { text: 'Hello' }],
  ['text that arrives only with the end', ends({ output: [message('Hello')] }), { text: 'Hello' }],
  ['text in pieces that is repeated as a whole', begins(0, message('')) + says('Hello') + completes(0, message('Hello')) + ends({ output: [message('Hello')] }), { text: 'Hello' }], // prettier-ignore
  ['a comment and an answer, as two paragraphs', completes(0, message('I look.')) + completes(1, message('It is sunny.')) + ends(), { text: 'I look.\n\nIt is sunny.' }], // prettier-ignore
  ['unknown events', `: note\n\n${event('response.audio.delta', { delta: 'x' })}${says('Hi')}${ends()}`, { text: 'Hi' }],
  ['two calls, in the order of their indexes', begins(1, call('b', '')) + begins(0, call('a', '')) + event('response.function_call_arguments.delta', { output_index: 1, delta: '{}' }) + completes(0, call('a', rome)) + completes(1, call('b', '{}')) + ends(), { finishReason: 'tool_calls', calls: [{ id: 'a', tool: 'get_weather', args: rome }, { id: 'b', tool: 'get_weather', args: '{}' }] }], // prettier-ignore
  ['reasoning', event('response.reasoning_summary_text.delta', { output_index: 0, delta: 'Hm.' }) + completes(1, message('Hi')) + ends(), { reasoning: 'Hm.', text: 'Hi' }], // prettier-ignore
  ['a refusal as text', event('response.refusal.delta', { output_index: 0, delta: 'No.' }) + ends(), { text: 'No.', finishReason: 'stop' }], // prettier-ignore
  ['an answer that is too long', says('one') + event('response.incomplete', { response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } } }), { text: 'one', finishReason: 'length' }], // prettier-ignore
  ['a truncated call', begins(0, call('a', '')) + event('response.incomplete', { response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } } }), { finishReason: 'length', calls: [{ id: 'a', args: '…' }] }], // prettier-ignore
  ['a filter', completes(0, call('a', rome)) + event('response.incomplete', { response: { status: 'incomplete', incomplete_details: { reason: 'content_filter' } } }), { finishReason: 'content_filter', calls: [] }], // prettier-ignore
  ['a missing end', says('one'), { code: 'model_cut_off' }],
  ['a failed end', says('one') + event('response.failed', { response: { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Slow down.' } } }), { code: 'model_rate_limited' }], // prettier-ignore
  ...['bio_policy', 'invalid_image_format', 'data_residency_mismatch'].map((code): [string, string, object] => [`an end that blames the request, ${code}`, says('one') + event('response.failed', { response: { status: 'failed', error: { code, message: 'No.' } } }), { code: 'model_rejected', isRetryable: false }]), // prettier-ignore
  ['a flagged prompt', event('response.failed', { response: { status: 'failed', error: { code: 'invalid_prompt', message: 'Invalid prompt: your prompt was flagged as potentially violating our usage policy.' } } }), { code: 'model_rejected', isRetryable: false, data: { refusal: true } }], // prettier-ignore
  ['a prompt that is too long, from a gateway', event('response.failed', { response: { status: 'failed', error: { code: 'invalid_prompt', message: 'The prompt is too long: 9000 tokens.' } } }), { code: 'model_context_overflow' }], // prettier-ignore
  ['an error', event('error', { code: 'server_error', message: 'The server had an error.', param: null }), { code: 'model_unavailable' }],
  ['an error in a field', event('error', { error: { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'Too long.' } }), { code: 'model_context_overflow' }], // prettier-ignore
  ['another format', 'data: {"choices":[{"delta":{"content":"hi"}}]}\n\ndata: [DONE]\n\n', { code: 'model_cut_off' }],
])('reads %s', async (_what, stream, expected) => {
  expect(await asked({ chunks: [stream] })).toMatchObject(expected);
});

test('a whole answer in one document is read as well', async () => {
  const document = { status: 'completed', output: [message('I look.'), call('a', rome)], usage: { input_tokens: 2, output_tokens: 1 } };
  const script = { headers: { 'content-type': 'application/json' }, chunks: [JSON.stringify(document)] };
  expect(await asked(script)).toMatchObject({ text: 'I look.', calls: [{ id: 'a', args: rome }], usage: { inputTokens: 2 } });
  const failed = { ...script, chunks: [JSON.stringify({ error: { code: 'server_error', message: 'No.' }, output: [] })] };
  expect(await asked(failed)).toMatchObject({ code: 'model_unavailable' });
});

test('reasoning is sent back before its result, only to the model that produced it', async () => {
  await using model = await ScriptedModel.start([
    {
      results: 0,
      answer: { reasoning: 'Where?', text: 'I look.', calls: [{ tool: 'get_weather', args: { city: 'Rome' } }] },
    },
    { answer: { text: 'It is sunny.' } },
  ]);
  const provider = { kind: 'openai' as const, format: 'responses' as const, baseUrl: `${model.origin}/v1`, apiKey: 'env:KEY' };
  const router = createRouter({ providers: { lab: provider }, models: { retries: 0 } });
  const { signal } = new AbortController();
  const messages: ChatMessage[] = [user('weather?')];
  const first = await router.stream('lab/gpt-5.6', createRequest(messages), new RecordingSink(), { signal });
  const id = first.calls[0]?.id ?? '';
  messages.push(
    { role: 'assistant', text: first.text, calls: first.calls },
    { role: 'tool', id, tool: 'get_weather', text: 'sunny', isError: false },
  );
  for (const name of ['gpt-5.6', 'gpt-5.5']) await router.stream(`lab/${name}`, createRequest(messages), new RecordingSink(), { signal });
  await router.close();
  expect(model.violations).toEqual([]);
  const [, back, other] = model.requests.map(({ body }) => body['input'] as { readonly type: string }[]);
  expect(back?.map(({ type }) => type)).toEqual(['message', 'reasoning', 'message', 'function_call', 'function_call_output']);
  expect(other?.map(({ type }) => type)).toEqual(['message', 'message', 'function_call', 'function_call_output']);
  expect(model.requests[0]?.body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'], tools: [{ strict: false }] });
});

const labelled = (text: string, phase: unknown) => ({ ...message(text), phase });

test.each<[string, string, string | undefined]>([
  [
    'the answer',
    begins(0, labelled('', 'final_answer')) + says('Hi') + completes(0, labelled('Hi', 'final_answer')) + ends(),
    'final_answer',
  ],
  ['a comment before a call', completes(0, labelled('I look.', 'commentary')) + completes(1, call('a', rome)) + ends(), 'commentary'],
  ['a comment and the answer', completes(0, labelled('So.', 'commentary')) + completes(1, labelled('Hi', 'final_answer')) + ends(), 'final_answer'], // prettier-ignore
  ['an answer that arrives with the end', ends({ output: [labelled('Hi', 'final_answer')] }), 'final_answer'],
  ['no label', completes(0, labelled('Hi', null)) + ends(), undefined],
  ['an unknown label', completes(0, labelled('Hi', 'aside')) + ends(), undefined],
])('reads the phase of %s', async (_what, stream, phase) => {
  const answer = await asked({ chunks: [stream] });
  expect('phase' in answer ? answer.phase : undefined).toBe(phase);
});

test('the phase of each answer is sent back, until a server refuses the field', async () => {
  const refusal = { status: 400, chunks: [JSON.stringify({ error: { message: "Unknown parameter: 'input[1].phase'." } })] };
  await using server = await ScriptedServer.start(refusal, { chunks: [says('Hi') + ends()] });
  const provider = { kind: 'openai-compatible' as const, format: 'responses' as const, baseUrl: `${server.url}/v1` };
  const router = createRouter({ providers: { lab: provider }, models: { retries: 0 } });
  const said: ChatMessage = { role: 'assistant', text: 'I look.', calls: [], phase: 'commentary' };
  await router.stream('lab/m', createRequest([user('hi'), said, user('and?')]), new RecordingSink(), {
    signal: new AbortController().signal,
  });
  await router.close();
  const label = server.seen.map(({ body }) => (JSON.parse(body) as { input: { phase?: string }[] }).input.map(({ phase }) => phase));
  expect(label).toEqual([
    [undefined, 'commentary', undefined],
    [undefined, undefined, undefined],
  ]);
});

test('reasoning that another account cannot read is forgotten, and the request repeated', async () => {
  await using server = await ScriptedServer.start(
    { chunks: [completes(0, { type: 'reasoning', summary: [], encrypted_content: 'gAAAAx' }), completes(1, call('a', rome)), ends()] },
    {
      status: 400,
      chunks: [
        JSON.stringify({
          error: {
            message:
              'The encrypted content gAAA...Axx= could not be verified. Reason: Encrypted content organization_id did not match the target organization.',
            type: 'invalid_request_error',
            code: 'invalid_encrypted_content',
          },
        }),
      ],
    },
    { chunks: [says('Sunny.'), ends()] },
  );
  const provider = { kind: 'openai' as const, format: 'responses' as const, baseUrl: `${server.url}/v1`, apiKey: 'env:KEY' };
  const router = createRouter({ providers: { lab: provider }, models: { retries: 0 } });
  const { signal } = new AbortController();
  const messages: ChatMessage[] = [user('weather?')];
  const first = await router.stream('lab/gpt-5.6', createRequest(messages), new RecordingSink(), { signal });
  messages.push(
    { role: 'assistant', text: '', calls: first.calls },
    { role: 'tool', id: 'a', tool: 'get_weather', text: 'sunny', isError: false },
  );
  expect(await router.stream('lab/gpt-5.6', createRequest(messages), new RecordingSink(), { signal })).toMatchObject({ text: 'Sunny.' });
  await router.close();
  expect(server.seen.map(({ body }) => body.includes('gAAAAx'))).toEqual([false, true, false]);
});
