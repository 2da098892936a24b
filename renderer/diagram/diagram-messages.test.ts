// Answers of the drawing page are validated like untrusted input.

import { expect, test } from 'vitest';
import { diagramPxMax, readDiagramReply } from './diagram-messages.ts';

test('sizes within bounds and known reasons pass, and nothing else', () => {
  const more = { kind: 'drawn', widthPx: 10, heightPx: 20.5, html: '<b>' };
  expect(readDiagramReply(more)).toEqual({ kind: 'drawn', widthPx: 10, heightPx: 20.5 });
  expect(readDiagramReply({ kind: 'failed', why: 'large', text: 'x' })).toEqual({ kind: 'failed', why: 'large' });
});

test.each([
  null,
  'drawn',
  [],
  { kind: 'drawn' },
  { kind: 'drawn', widthPx: '10', heightPx: 10 },
  { kind: 'drawn', widthPx: Number.NaN, heightPx: 10 },
  { kind: 'drawn', widthPx: 10, heightPx: Number.POSITIVE_INFINITY },
  { kind: 'drawn', widthPx: 0, heightPx: 10 },
  { kind: 'drawn', widthPx: 10, heightPx: diagramPxMax + 1 },
  { kind: 'failed', why: 'because' },
  { kind: 'failed' },
  { kind: 'other', why: 'large' },
])('%j is not a reply', (data) => {
  expect(readDiagramReply(data)).toBe(null);
});
