// An editor shows the whole of a change, however its lines begin.

import { expect, test } from 'vitest';
import { diffLines } from '../../../store/checkpoint/line-diff.ts';
import { diffContent } from './acp-words.ts';

test.each([
  ['lines that look like parts of a diff', '---\n-- old\n\\x\n@@ y\n', '+++\n++i;\n@@ y\n--- z\n'],
  ['no line break at the end', 'a\nb', 'a\nc'],
  ['a line break that goes', 'a\nb\n', 'a\nb'],
])('an editor is shown both sides in full: %s', (_what, before, after) => {
  const { text } = diffLines(before, after);
  const shown = diffContent({ path: '/ws/a', change: 'changed', note: null, diff: text } as Parameters<typeof diffContent>[0]);
  expect(shown).toEqual([{ type: 'diff', path: '/ws/a', oldText: before, newText: after }]);
});
