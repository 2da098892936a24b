import { expect, test } from 'vitest';
import { describeDiagram } from './describe-diagram.ts';

test.each([
  ['graph LR\n A-->B', 'flowchart', ''],
  ['%% a note\n\n  sequenceDiagram\n accTitle: How it talks\n A->>B: x', 'sequence', 'How it talks'],
  ['---\ntitle: Plan\n---\ngantt\n', 'gantt', 'Plan'],
  ['pie showData title Pets\n "a" : 1', 'pie', 'Pets'],
  ['timeline\n  title  History \n', 'timeline', 'History'],
  ['xychart-beta\n title "Sales"', 'chart', '"Sales"'],
  ['quite something else', 'other', ''],
  ['', 'other', ''],
] as const)('%j', (source, kind, title) => {
  expect(describeDiagram(source)).toEqual({ kind, title });
});
