import { expect, test } from 'vitest';
import { AppError } from '../../contracts/errors.ts';
import { readFixture, RecordingSink } from './fixtures/conversation.ts';
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

test('text and cached usage', () => {
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

test('one call in pieces', () => {
  expect(read(readFixture('openai-tool-call.txt'))).toMatchObject({
    calls: [{ id: 'call_w1', tool: 'get_weather', args: '{"city":"Paris"}' }],
    finishReason: 'tool_calls',
    usage: { inputTokens: 5, outputTokens: 7, cachedInputTokens: 0 },
  });
});

test('parallel calls, their pieces mixed', () => {
  expect(read(readFixture('openai-parallel-calls.txt'))).toMatchObject({
    text: 'Both at once.',
    calls: [
      { id: 'call_a', tool: 'read_file', args: '{"path":"a.txt"}' },
      { id: 'call_b', tool: 'read_file', args: '{"path":"b.txt"}' },
    ],
  });
});

test('a server that bends everything: no index, arguments as object, list content, usage in the last choice, no [DONE]', () => {
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

test('repeated ids and names add nothing; a new id alone opens no call; a shared index with new ids and names does', () => {
  expect(read(readFixture('openai-repeated-ids.txt')).calls).toEqual([
    { id: 'call_1', tool: 'calc', args: '{"e":1} ' },
    { id: 'call_1', tool: 'calc', args: '{}' },
  ]);
  expect(read(readFixture('openai-shared-index.txt')).calls).toEqual([
    { id: 'f-1', tool: 'calc', args: '{"a":1}' },
    { id: 'f-2', tool: 'calc', args: '{"a":2}' },
  ]);
});

test('names in pieces and growing names', () => {
  const piece = (name: string) => chunk({ tool_calls: [{ index: 0, function: { name } }] });
  expect(read(piece('get_') + piece('weather') + chunk({}, 'stop')).calls[0]?.tool).toBe('get_weather');
  expect(read(piece('get_') + piece('get_weather') + chunk({}, 'stop')).calls[0]?.tool).toBe('get_weather');
});

test('call ids are made unique and missing ones invented, here and against the conversation', () => {
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
