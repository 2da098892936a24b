import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffLines } from './line-diff.ts';
import { ownNow } from '../../../tests/own-clock.ts';

/** Applies unified hunks to a text and checks every line they name. */
function apply(before: string, diff: string): string {
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const lines: string[] = [];
  let at = 0;
  const parts = diff.split('\n').slice(0, -1);
  for (const [index, part] of parts.entries()) {
    const head = /^@@ -(\d+),(\d+) /.exec(part);
    const text = part.slice(1) + (parts[index + 1]?.startsWith('\\') === true ? '' : '\n');
    if (head !== null) {
      const from = Number(head[1]) - (head[2] === '0' ? 0 : 1);
      while (at < from) lines.push(old[at++] ?? '');
    } else if (part.startsWith('+')) lines.push(text);
    else if (part.startsWith('-') || part.startsWith(' ')) {
      expect(old[at]).toBe(text);
      if (part.startsWith(' ')) lines.push(text);
      at += 1;
    }
  }
  return [...lines, ...old.slice(at)].join('');
}

test('applying a diff to the first text gives the second text', () => {
  const text = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'long line\n', 'end'), { maxLength: 40 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const { text: diff, addedLines, removedLines, isCut } = diffLines(before, after);
      expect(isCut).toBe(false);
      expect(apply(before, diff)).toBe(after);
      expect(diff === '').toBe(before === after);
      expect(addedLines + removedLines === 0).toBe(before === after);
    }),
    { numRuns: 500 },
  );
});

test('gives the shortest diff with three context lines, in the format of diff -u', () => {
  const before = Array.from({ length: 12 }, (_, n) => `line ${n}\n`).join('');
  const after = before.replace('line 1\n', '').replace('line 10\n', 'line ten\n');
  expect(diffLines(before, after)).toEqual({
    text:
      '@@ -1,5 +1,4 @@\n line 0\n-line 1\n line 2\n line 3\n line 4\n' +
      '@@ -8,5 +7,5 @@\n line 7\n line 8\n line 9\n-line 10\n+line ten\n line 11\n',
    addedLines: 1,
    removedLines: 2,
    isCut: false,
  });
  expect(diffLines('', 'new').text).toBe('@@ -0,0 +1,1 @@\n+new\n\\ No newline at end of file\n');
});

test('bounds large diffs: replaces the middle as a whole and truncates the text', () => {
  const lines = (word: string): string => Array.from({ length: 20_000 }, (_, n) => `${word} ${n}\n`).join('');
  const startedMs = ownNow();
  const diff = diffLines(lines('before'), lines('after'));
  expect(ownNow() - startedMs).toBeLessThan(2_000);
  expect([diff.addedLines, diff.removedLines, diff.isCut, diff.text.length <= 100_000]).toEqual([20_000, 20_000, true, true]);
});
