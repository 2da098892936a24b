import { expect, test } from 'vitest';
import { AnthropicReader } from './anthropic-reader.ts';
import { mapAnthropicFailure } from './anthropic-errors.ts';
import { readFixture, RecordingSink } from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { SseParser } from './sse-parser.ts';

function read(text: string, sink = new RecordingSink()): AnthropicReader {
  const facts = { provider: 'lab', modelId: 'm', status: 200, headers: {}, secrets: [], nowMs: 0 };
  const reader = new AnthropicReader({ provider: 'lab', sink, mapError: (body) => mapAnthropicFailure({ ...facts, body }) });
  const parser = new SseParser(reader);
  parser.push(Buffer.from(text));
  parser.end();
  return reader;
}

test('reads text; the input count includes tokens read from and written to the cache', () => {
  const sink = new RecordingSink();
  expect(read(readFixture('anthropic-text.txt'), sink).finish()).toEqual({
    text: 'Grüße aus 東京 🚀',
    reasoning: '',
    calls: [],
    usage: { inputTokens: 1025, outputTokens: 12, cachedInputTokens: 900 },
    finishReason: 'stop',
  });
  expect(sink.texts).toEqual(['Grüße ', 'aus 東京 🚀']);
});

test('reads one call in pieces after text', () => {
  expect(read(readFixture('anthropic-tool-call.txt')).finish()).toMatchObject({
    text: 'Let me check.',
    calls: [{ id: 'toolu_01', tool: 'get_weather', args: '{"city": "Paris"}' }],
    finishReason: 'tool_calls',
  });
});

test('reads parallel calls, one of them without arguments', () => {
  expect(read(readFixture('anthropic-parallel-calls.txt')).finish().calls).toEqual([
    { id: 'toolu_a', tool: 'read_file', args: '{"path":"a"}' },
    { id: 'toolu_b', tool: 'read_file', args: '{"path":"b"}' },
    { id: 'toolu_c', tool: 'panic', args: '{}' },
  ]);
});

test('reads thinking as reasoning, keeps signed blocks, and ignores unknown events', () => {
  const reader = read(readFixture('anthropic-thinking.txt'));
  expect(reader.finish()).toMatchObject({ reasoning: 'I should look.', calls: [{ id: 'toolu_t' }] });
  expect(reader.beforeCalls().map((blocks) => blocks.map((block) => JSON.parse(block) as unknown))).toEqual([
    [
      { type: 'thinking', thinking: 'I should look.', signature: 'EqQBCgIYAhIM' },
      { type: 'redacted_thinking', data: 'abc=' },
    ],
  ]);
});

test('reads a server that omits event names, ids, pieces and message_stop', () => {
  expect(read(readFixture('anthropic-odd-server.txt')).finish()).toEqual({
    text: '',
    reasoning: '',
    calls: [{ id: '', tool: 'calc', args: '{"expression":"2*2"}' }],
    usage: { inputTokens: 7, outputTokens: 3, cachedInputTokens: 0 },
    finishReason: 'tool_calls',
  });
});

test('throws on an error event and on a missing end', () => {
  expect(() => read(readFixture('anthropic-error-midstream.txt'))).toThrow(
    expect.objectContaining({ code: 'model_unavailable', isRetryable: true }),
  );
  const reader = read(readFixture('anthropic-cut-off.txt'));
  expect(() => reader.finish()).toThrow(expect.objectContaining({ code: 'model_cut_off' }));
});

test('text after a call or a thought is a new paragraph; text after text continues it', () => {
  const parts = [
    { type: 'text', text: 'I look' },
    { type: 'text', text: ' there.' },
    { type: 'tool_use', id: 'toolu_1', name: 'list_dir', input: {} },
    { type: 'text', text: 'And ' },
    { type: 'text', text: 'here.' },
    { type: 'tool_use', id: 'toolu_2', name: 'list_dir', input: {} },
    { type: 'text', text: '' },
  ];
  const starts = parts.map((content_block, index) => ({ type: 'content_block_start', index, content_block }));
  const events = [...starts, { type: 'message_stop' }].map((event) => `data: ${JSON.stringify(event)}\n\n`);
  const sink = new RecordingSink();
  expect(read(events.join(''), sink).finish().text).toBe('I look there.\n\nAnd here.');
  expect(sink.texts.join('')).toBe('I look there.\n\nAnd here.');
});
