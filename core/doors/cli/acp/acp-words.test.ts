// An editor shows the whole of a change, however its lines begin.

import { expect, test } from 'vitest';
import { diffContent } from './acp-words.ts';

const noEnd = '\\ No newline at end of file\n';

test.each([
  [
    'lines that look like parts of a diff',
    '@@ -1,4 +1,4 @@\n----\n--- old\n-\\x\n++++\n+++i;\n @@ y\n+--- z\n',
    '---\n-- old\n\\x\n@@ y\n',
    '+++\n++i;\n@@ y\n--- z\n',
  ],
  ['no line break at the end', `@@ -1,2 +1,2 @@\n a\n-b\n${noEnd}+c\n${noEnd}`, 'a\nb', 'a\nc'],
  ['a line break that goes', `@@ -1,2 +1,2 @@\n a\n-b\n+b\n${noEnd}`, 'a\nb\n', 'a\nb'],
])('an editor shows both sides in full: %s', (_what, diff, before, after) => {
  const file = { path: '/ws/a', change: 'changed', note: null, diff } as Parameters<typeof diffContent>[0];
  expect(diffContent(file)).toEqual([{ type: 'diff', path: '/ws/a', oldText: before, newText: after }]);
});
