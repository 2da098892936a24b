import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeText } from '../../base/text-encoding.ts';
import { undoHunks, undoHunksOfFile } from './hunk-undo.ts';
import { lineHunks } from './line-diff.ts';

const numbered = (changes: Readonly<Record<number, string>> = {}, count = 40): string =>
  Array.from({ length: count }, (_, index) => `${changes[index + 1] ?? `line ${index + 1}`}\n`).join('');

test('a file in Windows-1252 stays so, and one that changed its encoding is only undone whole', () => {
  const side = (text: string, encoding: BufferEncoding = 'latin1') => decodeText(Buffer.from(text, encoding));
  const before = side('Käufer\n');
  const after = side('Müller\n');
  expect(undoHunksOfFile({ before, after, now: after }, [0])).toEqual({
    kind: 'bytes',
    bytes: new Uint8Array(Buffer.from('Käufer\n', 'latin1')),
  });
  const other = side('Müller\n', 'utf8');
  expect(undoHunksOfFile({ before, after: other, now: other }, [0])).toMatchObject({ kind: 'refuse' });
  expect(undoHunksOfFile({ before, after: null, now: after }, [0])).toMatchObject({ kind: 'refuse' });
});

test('undoes one hunk and keeps the other', () => {
  const before = numbered();
  const after = numbered({ 5: 'five', 30: 'thirty' });
  expect(undoHunks({ before, after, now: after }, [0])).toEqual({ kind: 'text', text: numbered({ 30: 'thirty' }) });
  expect(undoHunks({ before, after, now: after }, [1])).toEqual({ kind: 'text', text: numbered({ 5: 'five' }) });
  expect(undoHunks({ before, after, now: after }, [1, 0, 1])).toEqual({ kind: 'text', text: before });
  expect(undoHunks({ before, after, now: after }, [2])).toMatchObject({ kind: 'refuse' });
});

test('keeps a later change elsewhere, and refuses if the same lines changed', () => {
  const before = numbered();
  const after = numbered({ 5: 'five', 30: 'thirty' });
  const later = `a new first line\n${numbered({ 5: 'five', 20: 'mine', 30: 'thirty' })}`;
  expect(undoHunks({ before, after, now: later }, [0])).toEqual({
    kind: 'text',
    text: `a new first line\n${numbered({ 20: 'mine', 30: 'thirty' })}`,
  });
  const touched = numbered({ 5: 'five, mine', 30: 'thirty' });
  expect(undoHunks({ before, after, now: touched }, [0])).toEqual({ kind: 'refuse', reason: 'These lines were changed since.' });
  expect(undoHunks({ before, after, now: touched }, [1, 0])).toMatchObject({ kind: 'refuse' });
});

test('refuses if the lines occur twice after a later change', () => {
  const now = `${numbered({ 5: 'five' })}${numbered({ 5: 'five' })}`;
  expect(undoHunks({ before: numbered(), after: numbered({ 5: 'five' }), now }, [0])).toMatchObject({ kind: 'refuse' });
});

test('undoing all hunks of any change restores the text, including its last line', () => {
  const text = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'end'), { maxLength: 60 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const all = lineHunks(before, after).map((_, index) => index);
      expect(undoHunks({ before, after, now: after }, all)).toEqual({ kind: 'text', text: before });
    }),
    { numRuns: 300 },
  );
});
