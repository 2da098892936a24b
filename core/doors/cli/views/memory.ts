// Views, export and import of memories.

import { counted } from '../../../base/counted.ts';
import { givenPath } from '../../../base/given-path.ts';
import type { MemoryView } from '../../../contracts/features/memory.ts';
import { exitCodes } from '../exit-code.ts';
import type { CommandContext } from '../command-context.ts';
import type { ViewsOf } from '../kernel/view.ts';
import { facts, table, when } from '../table.ts';
import { writeNewResult } from '../write-result.ts';

const headings = ['MEMORY', 'STATE', 'KIND', 'SINCE', 'SCOPE', 'TEXT'];

export const memoryViews: ViewsOf<'memory'> = {
  'memory.list': {
    show: ({ memories, counts }) =>
      table(headings, memories.map(row), counts.kept + counts.candidates > 0 ? 'No memory matches.' : 'Nothing is remembered.'),
  },
  'memory.get': { show: describe },
  'memory.recall': { show: ({ hits }) => table(headings, hits.map(row), 'Nothing was remembered about that.') },
  'memory.add': { show: (view) => [`Remembered as ${view.memoryId}.`, ...openOf(view)].join('\n') },
  'memory.promote': { show: (view) => [`Kept ${view.memoryId}.`, ...openOf(view)].join('\n') },
  'memory.pin': { show: ({ memoryId, pinned }) => `${memoryId} is ${pinned ? 'pinned' : 'no longer pinned'}.` },
  'memory.export': { perform: (context, _, { out }) => exportAll(context, typeof out === 'string' ? givenPath(context.io, out) : null) },
  'memory.import': {
    params: async (params, { given, context }) => ({ ...params, text: await context.readText(String(given['file'])) }),
  },
};

function exportAll(context: CommandContext, out: string | null): Promise<number> {
  return context.withClaw('any', async ({ claw }) => {
    const exported = await claw.op('memory.export', {});
    // With --json the output is the document itself, not a file.
    if (out !== null && !context.output.isJson) writeNewResult(out, exported.text);
    const { text, count } = exported;
    context.output.result(exported, () => (out === null ? text.trimEnd() : `Wrote ${counted(count, 'memory', 'memories')} to ${out}.`));
    return exitCodes.done;
  });
}

/** Contradictions that a person should settle. Until then the agent sees one of the two. */
function openOf({ memoryId, contradictions }: MemoryView): string[] {
  return contradictions.flatMap(({ otherId, otherText }) => [
    `It contradicts ${otherId}: ${otherText}`,
    `Say which holds: trayclaw memory settle ${memoryId} ${otherId} this|other|both`,
  ]);
}

function describe(view: MemoryView): string {
  const pairs: [string, string][] = [
    ['memory', view.memoryId],
    ['text', view.text],
    ['kind', view.kind],
    ['state', view.rule === null ? view.state : `${view.state} (${view.rule})`],
    ['scope', view.scope],
    ['shown', view.tier === 'full' ? 'whole' : `${view.tier}: ${view.shown}`],
    ['pinned', view.pinned ? 'yes' : 'no'],
    ['since', when(view.createdAtMs)],
    ['used', `${when(view.usedAtMs)}, ${view.uses} times`],
    ['from', [view.origin.actor, view.origin.sessionId ?? ''].filter(Boolean).join(' in ')],
    ...view.untrusted.map(({ kind, where }): [string, string] => ['words of', `${kind} ${where}`]),
    ...view.contradictions.map(({ otherId, otherText }): [string, string] => ['contradicts', `${otherId} ${otherText}`]),
  ];
  return facts(pairs);
}

function row({ memoryId, state, kind, createdAtMs, scope, text, pinned, tier, contradictions }: MemoryView): string[] {
  const marks = [pinned ? 'pinned' : '', tier === 'full' ? '' : tier, contradictions.length > 0 ? 'contradicted' : ''].filter(Boolean);
  return [memoryId, state, kind, when(createdAtMs).slice(0, 10), scope, `${text}${marks.length === 0 ? '' : ` (${marks.join(', ')})`}`];
}
