import { expect, test } from 'vitest';
import { AppError } from '../../contracts/errors.ts';
import { readFixture, RecordingSink } from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { OpenAiReader } from './openai-reader.ts';
import { completeCalls } from './reply-reader.ts';
import { SseParser } from './sse-parser.ts';

function read(text: string, sink = new RecordingSink()) {
  const reader = new OpenAiReader({ provider: 'lab', sink, mapError: (body) => new AppError('model_unavailable', JSON.stringify(body)) });
  const parser = new SseParser(reader);
  parser.push(Buffer.from(text));
  parser.end();
  return reader.finish();
}

const chunk = (delta: unknown, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

test('reads text and cached usage', () => {
  const sink = new RecordingSink();
  expect(read(readFixture('openai-text.txt'), sink)).toEqual({
    text: 'Grüße aus 東京 🚀!',
    reasoning: '',
    calls: [],
    usage: { inputTokens: 1200, outputTokens: 9, cachedInputTokens: 1024 },
    finishReason: 'stop',
  });
  expect(sink.texts).toEqual(['Grüße ', 'aus 東京 ', '🚀!']);
});

test('reads one call in pieces', () => {
  expect(read(readFixture('openai-tool-call.txt'))).toMatchObject({
    calls: [{ id: 'call_w1', tool: 'get_weather', args: '{"city":"Paris"}' }],
    finishReason: 'tool_calls',
    usage: { inputTokens: 5, outputTokens: 7, cachedInputTokens: 0 },
  });
});

test('reads parallel calls with interleaved pieces', () => {
  expect(read(readFixture('openai-parallel-calls.txt'))).toMatchObject({
    text: 'Both at once.',
    calls: [
      { id: 'call_a', tool: 'read_file', args: '{"path":"a.txt"}' },
      { id: 'call_b', tool: 'read_file', args: '{"path":"b.txt"}' },
    ],
  });
});

test('reads a server that deviates everywhere: no index, list content, no [DONE]', () => {
  expect(read(readFixture('openai-odd-server.txt'))).toEqual({
    text: 'Part',
    reasoning: 'Let me see.',
    calls: [
      { id: 'x', tool: 'read_file', args: '{"path":"a"}' },
      { id: '', tool: 'list_dir', args: '{}' },
    ],
    usage: { inputTokens: 20, outputTokens: 4, cachedInputTokens: 0 },
    finishReason: 'tool_calls',
  });
});

test('repeated ids add nothing; only a new id with a name opens another call', () => {
  expect(read(readFixture('openai-repeated-ids.txt')).calls).toEqual([
    { id: 'call_1', tool: 'calc', args: '{"e":1} ' },
    { id: 'call_1', tool: 'calc', args: '{}' },
  ]);
  expect(read(readFixture('openai-shared-index.txt')).calls).toEqual([
    { id: 'f-1', tool: 'calc', args: '{"a":1}' },
    { id: 'f-2', tool: 'calc', args: '{"a":2}' },
  ]);
});

test('reads names in pieces and growing names', () => {
  const piece = (name: string) => chunk({ tool_calls: [{ index: 0, function: { name } }] });
  expect(read(piece('get_') + piece('weather') + chunk({}, 'stop')).calls[0]?.tool).toBe('get_weather');
  expect(read(piece('get_') + piece('get_weather') + chunk({}, 'stop')).calls[0]?.tool).toBe('get_weather');
});

test('call ids are made unique, also in the conversation, and missing ones invented', () => {
  let made = 0;
  const ids = { next: () => `made_${++made}`, isTaken: (id: string) => id === 'old' || id === 'made_1' };
  const call = (id: string, args = '{}') => ({ id, tool: 't', args });
  expect(completeCalls([call('a'), call('a'), call('old'), call('', ' '), call('a_2')], ids)).toEqual([
    call('a'),
    call('a_2'),
    call('old_2'),
    call('made_2'),
    call('a_2_2'),
  ]);
});

test.each([
  ['openai-error-midstream.txt', 'model_unavailable'],
  ['openai-malformed.txt', 'model_bad_reply'],
])('%s fails with %s', (name, code) => {
  expect(() => read(readFixture(name))).toThrow(expect.objectContaining({ code }));
});

test('numbers that cannot be token counts are ignored', () => {
  const odd = (prompt: string, completion: string): string =>
    `data: {"choices":[],"usage":{"prompt_tokens":${prompt},"completion_tokens":${completion}}}\n\n`;
  const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
  for (const text of [odd('-7', '1e30'), odd('"7"', '9007199254740993')])
    expect(read(chunk({ content: 'hi' }, 'stop') + text)).toMatchObject({ text: 'hi', usage });
});

test('a stream without an end is a cut-off; one that only lacks [DONE] is not', () => {
  expect(() => read(chunk({ content: 'half' }))).toThrow(expect.objectContaining({ code: 'model_cut_off' }));
  expect(read(chunk({ content: 'all' }) + chunk({}, 'stop')).text).toBe('all');
  expect(read(chunk({ content: 'all' }) + 'data: [DONE]\n\n')).toMatchObject({ text: 'all', finishReason: 'stop', usage: null });
});

test.each([
  ['length', 'length'],
  ['content_filter', 'content_filter'],
  ['eos', 'stop'],
  ['never_heard', 'other'],
])('finish reason %s means %s', (given, expected) => {
  expect(read(chunk({ content: 'x' }) + chunk({}, given)).finishReason).toBe(expected);
});

const calls = (...pieces: unknown[]): string => chunk({ tool_calls: pieces });
const fn = (name: string, args: string) => ({ function: { name, arguments: args } });

test.each([
  ['Gemini: no index, several calls in one chunk, stop', [calls({ id: '', ...fn('a', '{"x":1}') }, { id: '', ...fn('b', '{}') })]],
  ['index null', [calls({ index: null, id: '1', ...fn('a', '{"x":1}') }), calls({ index: null, id: '2', ...fn('b', '{}') })]],
  ['both on index 0, whole', [calls({ index: 0, id: '1', ...fn('a', '{"x":1}') }), calls({ index: 0, id: '', ...fn('b', '{}') })]],
  [
    'a repeated call',
    [
      calls({ index: 0, id: '1', ...fn('a', '{"x":1}') }),
      calls({ index: 0, id: '1', ...fn('a', '{"x":1}') }),
      calls({ index: 1, ...fn('b', '{}') }),
    ],
  ],
  [
    'a nameless piece of arguments',
    [
      calls({ index: null, id: '1', function: { name: 'a' } }),
      calls({ function: { arguments: '{"x":1}' } }),
      calls({ id: '2', ...fn('b', '{}') }),
    ],
  ],
])('%s: two calls remain two', (_what, chunks) => {
  const reply = read([...chunks, chunk({}, 'stop')].join(''));
  expect(reply.calls.map(({ tool, args }) => [tool, args])).toEqual([
    ['a', '{"x":1}'],
    ['b', '{}'],
  ]);
  expect(reply.finishReason).toBe('tool_calls');
});

test('two JSON objects on one index are two calls of one tool', () => {
  const twice = (pieces: string[]) =>
    read(pieces.map((args) => calls({ index: 0, id: 'c', ...fn('t', args) })).join('') + chunk({}, 'stop')).calls;
  const both = [
    { id: 'c', tool: 't', args: '{"p":"a}{b"}' },
    { id: '', tool: 't', args: '{"p":"c"}' },
  ];
  expect(twice(['{"p":"a}{b"}{"p":"c"}'])).toEqual(both);
  expect(twice(['{"p":"a}{b"}', '{"p":"c"}'])).toEqual(both.map((call) => ({ ...call, id: 'c' })));
  expect(twice(['{"p":', '{"q":1}}'])).toEqual([{ id: 'c', tool: 't', args: '{"p":{"q":1}}' }]);
});

test('empty choices, a chunk without delta, null usage and comments are ignored', () => {
  const odd =
    ': OPENROUTER PROCESSING\n\ndata: {"choices":[],"prompt_filter_results":[]}\n\ndata: {"choices":[{"index":0,"finish_reason":null}],"usage":null}\n\n';
  expect(read(odd + chunk({ content: 'hi' }) + odd + chunk({}, 'stop'))).toMatchObject({ text: 'hi', finishReason: 'stop', usage: null });
});

test.each([
  '{"error":{"message":"boom"}}',
  '{"error":"boom"}',
  '{"object":"error","message":"boom","code":500}',
  '{"choices":[{"index":0,"error":{"message":"boom","code":502}}]}',
])('an error inside the stream ends it: %s', (body) => {
  expect(() => read(`${chunk({ content: 'hi' })}data: ${body}\n\n`)).toThrow(/boom/);
});

test('a stream without a finish reason fails unless it ends with [DONE]', () => {
  expect(() => read(chunk({ content: 'half' }))).toThrow(expect.objectContaining({ code: 'model_cut_off' }) as Error);
  expect(read(`${chunk({ content: 'whole' })}data: [DONE]\n\n`)).toMatchObject({ text: 'whole', finishReason: 'stop' });
});

test('reasoning is read from either field, even if the other is empty', () => {
  expect(read(chunk({ reasoning_content: '', reasoning: 'hm' }) + chunk({}, 'stop')).reasoning).toBe('hm');
});

test('an answer longer than any model writes ends the call', () => {
  const big = 'x'.repeat(1024 * 1024);
  const endless = expect.objectContaining({ code: 'model_bad_reply', isRetryable: false }) as Error;
  expect(() => read(chunk({ content: big }).repeat(5))).toThrow(endless);
  expect(() => read(calls({ index: 0, id: 'c', ...fn('t', big) }).repeat(19))).toThrow(endless);
  expect(read(chunk({ content: big }).repeat(1) + chunk({}, 'stop')).text.length).toBe(1024 * 1024);
});

test('oversized arguments are cut, and cut arguments never count as complete', () => {
  const big = 'x'.repeat(1024 * 1024);
  const reply = read(
    calls({ index: 0, id: 'c', ...fn('t', `{"a":"${big}"}`) }) +
      calls({ index: 1, id: 'd', ...fn('t', `{"a":"${big}"}`) }) +
      chunk({}, 'tool_calls'),
  );
  expect(reply.calls.map(({ args }) => args.length)).toEqual([big.length + 8, big.length - 8 + 1]);
  expect(() => JSON.parse(reply.calls[1]?.args ?? '')).toThrow(SyntaxError);
  // This also holds if the cut is right after a whole object, or if nothing of a call is kept.
  const two = read(
    calls({ index: 0, id: 'c', ...fn('t', 'x'.repeat(2 * 1024 * 1024 - 2)) }) +
      calls({ index: 1, id: 'd', ...fn('t', '{} ') }) +
      calls({ index: 2, id: 'e', ...fn('t', '{}') }) +
      chunk({}, 'tool_calls'),
  );
  expect(two.calls.slice(1).map(({ args }) => args)).toEqual(['{}…', '…']);
});
