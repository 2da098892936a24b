import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventStreamParser, type StreamMessage } from './event-stream.ts';

const lineCharsMax = 1000;

function parse(chunks: readonly string[]): { messages: StreamMessage[]; ids: string[] } {
  const messages: StreamMessage[] = [];
  const ids: string[] = [];
  const parser = new EventStreamParser({ message: (message) => messages.push(message), id: (id) => ids.push(id) }, lineCharsMax);
  for (const chunk of chunks) parser.push(chunk);
  return { messages, ids };
}

const stream =
  ': beat\n\nid: 7\n\nid: 8\nevent: event\ndata: {"a":1}\n\nevent: delta\r\ndata: one\r\ndata:two\r\n\r\ndata\n\nevent: lost\n\nid: 9\rdata: x\r\r';
const parsed = {
  messages: [
    { event: 'event', data: '{"a":1}' },
    { event: 'delta', data: 'one\ntwo' },
    { event: 'message', data: '' },
    { event: 'message', data: 'x' },
  ],
  ids: ['7', '8', '9'],
};

test('parses comments, ids without data, several data lines and all three line ends', () => {
  expect(parse([stream])).toEqual(parsed);
});

test('chunks may end anywhere', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(stream.length), { maxLength: 12 }), (cuts) => {
      const points = [0, ...cuts.toSorted((a, b) => a - b), stream.length];
      const chunks = points.slice(1).map((point, index) => stream.slice(points[index], point));
      expect(parse(chunks)).toEqual(parsed);
    }),
  );
});

test('refuses an endless line and an endless message', () => {
  expect(() => parse(['data: ' + 'x'.repeat(lineCharsMax)])).toThrow(RangeError);
  expect(() => parse(Array.from({ length: lineCharsMax + 1 }, () => 'x'))).toThrow(RangeError);
  expect(() => parse(Array.from({ length: lineCharsMax + 1 }, () => 'data: x\n'))).toThrow(RangeError);
});
