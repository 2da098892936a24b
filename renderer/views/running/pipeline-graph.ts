// The graph of a pipeline run as the source of a diagram: a box for each node with its state as text and as shape, and dotted lines for
// text that a review sends back.

import type { PipelineView } from '../../../core/contracts/features/pipelines.ts';

type Node = PipelineView['nodes'][number];

/** The brackets of each state: running nodes are rounded, failed nodes are hexagons. */
const forms: Readonly<Record<Node['status'], readonly [string, string]>> = {
  open: ['[', ']'],
  running: ['([', '])'],
  done: ['[[', ']]'],
  failed: ['{{', '}}'],
  skipped: ['>', ']'],
};

export function graphOf(
  { name, nodes }: Pick<PipelineView, 'name' | 'nodes'>,
  words: Readonly<Record<Node['status'], string>>,
  again: string,
): string {
  // Node names may be keywords of the diagram language.
  const ids = new Map(nodes.map(({ node }, index) => [node, `n${index}`]));
  const boxes = nodes.map(
    ({ node, status }) => `  ${ids.get(node) ?? ''}${forms[status][0]}"${node}<br/>${words[status]}"${forms[status][1]}`,
  );
  const lines = nodes.flatMap(({ node, follows, redo }) => [
    ...follows.map((one) => `  ${ids.get(one) ?? ''} --> ${ids.get(node) ?? ''}`),
    ...redo.map((one) => `  ${ids.get(node) ?? ''} -. ${again} .-> ${ids.get(one) ?? ''}`),
  ]);
  const title = name.replaceAll(/["\\\n]/g, ' ');
  return [`---\ntitle: ${title}\n---`, 'flowchart LR', ...boxes, ...lines].join('\n');
}
