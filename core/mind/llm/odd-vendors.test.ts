// Servers that use Anthropic's or Ollama's format with deviations: gateways, other servers at the vendor's address, repeated and missing
// parts. Each gives one answer or one clear error, and never the same call twice.

import { expect, test } from 'vitest';
import { createRequest, createRouter, failureOf, RecordingSink, user } from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { ScriptedServer, type Script } from '../../../tests/rigs/core/mind/llm/scripted-server.ts';

async function asked(kind: 'anthropic' | 'ollama', script: Script) {
  await using server = await ScriptedServer.start(script);
  const provider = kind === 'anthropic' ? { kind, baseUrl: server.url, apiKey: 'env:KEY' } : { kind, baseUrl: server.url };
  const models = { retries: 0, timeouts: { idleMs: 200 } };
  const router = createRouter({ providers: { lab: provider }, models });
  const answer = router.stream('lab/m', createRequest([user('hi')]), new RecordingSink(), { signal: new AbortController().signal });
  const outcome = await answer.catch((cause: unknown) => failureOf(Promise.reject(cause as Error)));
  await router.close();
  return outcome;
}

const json = { 'content-type': 'application/json' };
const html = { 'content-type': 'text/html' };
const event = (type: string, more: object = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const start = event('message_start', { message: { usage: { input_tokens: 10, output_tokens: 1 } } });
const opens = (index: number, content_block: object) => event('content_block_start', { index, content_block });
const adds = (index: number, delta: object) => event('content_block_delta', { index, delta });
const said = (text: string) => opens(0, { type: 'text', text: '' }) + adds(0, { type: 'text_delta', text });
const opensCall = (id: string, index = 0) => opens(index, { type: 'tool_use', id, name: 'get_weather', input: {} });
const call = (id: string) => opensCall(id) + adds(0, { type: 'input_json_delta', partial_json: '{"city":"Rom"}' });
const stops = (stop_reason: string, usage: object = { output_tokens: 5 }) => event('message_delta', { delta: { stop_reason }, usage });
const end = (reason: string, usage?: object) => stops(reason, usage) + event('message_stop');
const error = (type: string, message: string) => JSON.stringify({ type: 'error', error: { type, message } });
const rom = (id: string) => [{ id, tool: 'get_weather', args: '{"city":"Rom"}' }];

test.each<[string, string, object]>([
  ["a gateway's error without a type", `${start}data: {"error":{"message":"upstream lost","code":502}}\n\n`, { code: 'model_unavailable', message: expect.stringContaining('upstream lost') as string }], // prettier-ignore
  ['an error event that is not JSON', `${start}event: error\ndata: upstream died\n\n`, { code: 'model_unavailable', message: expect.stringContaining('upstream died') as string }], // prettier-ignore
  ['a filter in the middle', start + said('x') + event('error', { error: { type: 'invalid_request_error', message: 'Output blocked by content filtering policy' } }), { code: 'model_rejected', data: { refusal: true } }], // prettier-ignore
  ['an empty event', `data:\n\n${start}${said('hi')}${end('end_turn')}`, { text: 'hi', finishReason: 'stop' }],
  ['a stream in another format', 'data: {"choices":[{"delta":{"content":"hi"}}]}\n\ndata: [DONE]\n\n', { code: 'model_bad_reply' }],
  ['an answer that restarts', start + call('t1') + start + call('t2') + end('tool_use'), { code: 'model_cut_off' }],
  ['a call whose beginning is lost', start + said('I look') + adds(1, { type: 'input_json_delta', partial_json: '{}' }) + end('tool_use'), { code: 'model_cut_off' }], // prettier-ignore
  ['a beginning that is sent twice', start + opensCall('t1') + call('t1') + end('tool_use'), { calls: rom('t1') }],
  ['a call cut before its arguments', start + opensCall('t1') + end('max_tokens'), { finishReason: 'length', calls: [{ id: 't1', args: '…' }] }], // prettier-ignore
  ['a call in an answer that was withdrawn', start + call('t1') + end('refusal'), { finishReason: 'content_filter', calls: [] }],
  ['zeros in place of counts', start + said('hi') + end('end_turn', { input_tokens: 0, output_tokens: 9 }), { usage: { inputTokens: 10, outputTokens: 9 }, usageReported: true }], // prettier-ignore
  ['no counts at all', event('message_start', { message: { usage: { input_tokens: '7' } } }) + said('hi') + end('end_turn', {}), { usageReported: false }], // prettier-ignore
])('Anthropic format: %s', async (_what, stream, outcome) => {
  expect(await asked('anthropic', { chunks: [stream] })).toMatchObject(outcome);
});

test('an Anthropic stream that stays open after its stop reason is a complete answer', async () => {
  const script: Script = { chunks: [start + said('hi') + stops('end_turn')], after: 'hang' };
  expect(await asked('anthropic', script)).toMatchObject({ text: 'hi', finishReason: 'stop' });
});

test('a 404 from an address other than the vendor also suggests checking the address', async () => {
  const page: Script = { status: 404, headers: html, chunks: ['<html>404 not found</html>'] };
  const hint = expect.stringContaining('baseUrl') as string;
  expect(await asked('anthropic', page)).toMatchObject({ code: 'model_unknown', hint });
  expect(await asked('ollama', page)).toMatchObject({ code: 'model_unknown', hint });
  const own: Script = { status: 404, headers: json, chunks: [error('not_found_error', 'model: m')] };
  expect((await asked('anthropic', own)) as { hint?: string }).not.toMatchObject({ hint });
  const missing: Script = { status: 404, headers: json, chunks: ['{"error":"model \\"m\\" not found, try pulling it first"}'] };
  expect(await asked('ollama', missing)).toMatchObject({ hint: 'Fetch it with: ollama pull m' });
});

const line = (value: object) => `${JSON.stringify({ model: 'm', ...value })}\n`;
const made = (...calls: object[]) => line({ message: { role: 'assistant', content: '', tool_calls: calls }, done: false });
const one = (id: string, city: string) => ({ id, function: { name: 'get_weather', arguments: { city } } });
const done = line({ message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', prompt_eval_count: 30, eval_count: 6 });

test.each<[string, Script, object]>([
  ['calls repeated with each line', { chunks: [made(one('a', 'Rom')) + made(one('a', 'Rom'), one('b', 'Bern')) + done] }, { calls: [{ id: 'a' }, { id: 'b', args: '{"city":"Bern"}' }] }], // prettier-ignore
  ['a call without a name', { chunks: [made({ function: { arguments: {} } }) + done] }, { finishReason: 'tool_calls', calls: [{ tool: '' }] }], // prettier-ignore
  ['an uncounted prompt', { chunks: [line({ message: { content: 'hi' }, done: true, eval_count: 3 })] }, { usageReported: false }],
  ['a page', { headers: html, chunks: ['<html><body>Sign in</body></html>'] }, { code: 'model_bad_reply' }],
  ['an answer in another format', { headers: json, chunks: ['{"choices":[{"message":{"content":"hi"}}]}'] }, { code: 'model_bad_reply' }],
  ['a redirect', { status: 301, headers: { location: '/login' }, chunks: [] }, { code: 'model_rejected', isRetryable: false }],
])('Ollama format: %s', async (_what, script, outcome) => {
  const { calls, ...rest } = outcome as { calls?: unknown[] };
  const got = await asked('ollama', script);
  expect(got).toMatchObject(rest);
  if (calls !== undefined) expect((got as { calls?: readonly object[] }).calls).toMatchObject(calls);
});
