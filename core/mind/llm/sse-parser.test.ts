import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readFixture } from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { SseParser } from './sse-parser.ts';

function parse(chunks: readonly Buffer[], charsMax?: number): [string, string][] {
  const events: [string, string][] = [];
  const handler = { event: (data: string, event: string) => (events.push([data, event]), false) };
  const parser = charsMax === undefined ? new SseParser(handler) : new SseParser(handler, charsMax);
  for (const chunk of chunks) parser.push(chunk);
  parser.end();
  return events;
}

const fixtures = ['openai-text.txt', 'openai-odd-server.txt', 'anthropic-text.txt', 'anthropic-thinking.txt'];

test('reads fields, comments, several data lines and every kind of line end', () => {
  const text = '\uFEFF: hello\r\nevent: a\r\ndata: one\r\ndata:two\r\nid: 7\r\n\r\ndata\n\ndata:  x\r\revent: lost\n\nretry: 5\ndata: last';
  expect(parse([Buffer.from(text)])).toEqual([
    ['one\ntwo', 'a'],
    ['', 'message'],
    [' x', 'message'],
    ['last', 'message'],
  ]);
});

test.each(fixtures)('%s gives the same events wherever it is split in two', (name) => {
  for (const ending of ['\n', '\r\n', '\r']) {
    const bytes = Buffer.from(readFixture(name).replaceAll('\r\n', '\n').replaceAll('\n', ending));
    const whole = parse([bytes]);
    expect(whole.length).toBeGreaterThan(3);
    for (let at = 0; at <= bytes.length; at++) expect(parse([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
  }
});

test('single bytes and random splits change nothing', () => {
  const bytes = Buffer.from(readFixture('openai-text.txt'));
  const whole = parse([bytes]);
  expect(parse([...bytes].map((byte) => Buffer.from([byte])))).toEqual(whole);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 20 }), (cuts) => {
      const marks = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      const chunks = marks.slice(1).map((mark, i) => bytes.subarray(marks[i], mark));
      expect(parse(chunks)).toEqual(whole);
    }),
  );
});

test('any text survives as data', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 9 }), (text, size) => {
      const data = text.replace(/[\r\n]/g, ' ');
      const bytes = Buffer.from(`data: ${data}\n\n`);
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
      expect(parse(chunks)).toEqual([[data, 'message']]);
    }),
  );
});

test('a line at the limit is read, and a longer one is refused, however it is split', () => {
  const fits = Buffer.from(`data: ${'x'.repeat(94)}\n\n`);
  expect(parse([fits], 100)).toHaveLength(1);
  const long = Buffer.from(`data: ${'x'.repeat(95)}\n\n`);
  expect(() => parse([long], 100)).toThrow(expect.objectContaining({ code: 'model_bad_reply' }));
  expect(() => parse([long.subarray(0, 50), long.subarray(50)], 100)).toThrow(expect.objectContaining({ code: 'model_bad_reply' }));
  const endless = Array.from({ length: 11 }, () => Buffer.from('data: many\n'.padStart(12, ' ')));
  expect(parse(endless, 100)).toEqual([]);
  const manyDataLines = Array.from({ length: 30 }, () => Buffer.from('data: many\n'));
  expect(() => parse(manyDataLines, 100)).toThrow(expect.objectContaining({ code: 'model_bad_reply' }));
});

test('stops at the event that the handler calls the last', () => {
  const seen: string[] = [];
  const parser = new SseParser({ event: (data) => (seen.push(data), data === '[DONE]') });
  expect(parser.push(Buffer.from('data: 1\n\ndata: [DONE]\n\ndata: 2\n\n'))).toBe(true);
  expect(parser.push(Buffer.from('data: 3\n\n'))).toBe(true);
  expect(seen).toEqual(['1', '[DONE]']);
});
