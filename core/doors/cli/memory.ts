// Commands on what is remembered.

import { readFileSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { AppError } from '../../contracts/errors.ts';
import { memoryKinds, memoryStates, type MemoryView } from '../../contracts/features/memory.ts';
import type { OpParams } from '../../contracts/ops.ts';
import { limited, type CommandContext, type Run } from './command-context.ts';
import { facts, table, when } from './table.ts';
import { oneOf } from './words.ts';

interface ListOptions {
  readonly query?: string;
  readonly state?: string;
  readonly kind?: string;
  readonly scope?: string;
  readonly archived?: boolean;
  readonly contradicted?: boolean;
  readonly limit?: string;
}

interface AddOptions {
  readonly kind?: string;
  readonly scope?: string;
  readonly importance?: string;
  readonly pin?: boolean;
}

type Settled = 'this' | 'other' | 'both';

export function registerMemory(program: Command, run: Run): void {
  const memory = program.command('memory').description('long-term memory');
  memory
    .command('list')
    .description('list memories, newest first; with --query, best first')
    .option('--query <words>', 'words to search for')
    .option('--state <state>', memoryStates.join(', '))
    .option('--kind <kind>', memoryKinds.join(', '))
    .option('--scope <scope>', 'shared, or agent:ID')
    .option('--archived', 'also what is out of use by its age')
    .option('--contradicted', 'only what contradicts something else')
    .option('--limit <n>', 'how many at most')
    .action((options: ListOptions) => run((context) => list(context, options)));
  memory
    .command('recall')
    .alias('search')
    .description('search memory as the agent does')
    .argument('<query...>')
    .option('--agent <id>', 'as this agent; main by default')
    .option('--limit <n>', 'how many at most')
    .action((query: string[], options: { agent?: string; limit?: string }) => run((context) => recall(context, query.join(' '), options)));
  memory
    .command('add')
    .description('add a memory; it is kept at once')
    .argument('<text...>')
    .option('--kind <kind>', memoryKinds.join(', '))
    .option('--scope <scope>', 'shared, or agent:ID')
    .option('--importance <n>', '0 to 1')
    .option('--pin', 'it never fades')
    .action((text: string[], options: AddOptions) => run((context) => add(context, text.join(' '), options)));
  registerOne(memory, run);
  memory
    .command('settle')
    .description('settle a contradiction between two memories')
    .argument('<memory-id>')
    .argument('<other-id>')
    .argument('<keep>', 'this, other or both')
    .action((memoryId: string, otherId: string, keep: string) =>
      run((context) => {
        const kept = oneOf<Settled>(['this', 'other', 'both'], keep, 'keep');
        return context.runOp('memory.settle', { memoryId, otherId, keep: kept }, { human: (done) => `Kept: ${done.kept.join(', ')}.` });
      }),
    );
  memory
    .command('export')
    .description('export the memories, one JSON object per line')
    .option('--out <file>', 'write it to a new file')
    .action(({ out }: { out?: string }) => run((context) => exportAll(context, out)));
  memory
    .command('import')
    .description('import memories from an exported file; - reads standard input')
    .argument('<file>')
    .option('--state <state>', `${memoryStates.join(', ')}; kept when left out`)
    .action((file: string, { state }: { state?: string }) => run((context) => importAll(context, file, state)));
}

function registerOne(memory: Command, run: Run): void {
  const onId = (name: string, description: string, act: (context: CommandContext, memoryId: string) => Promise<number>): void => {
    memory
      .command(name)
      .description(description)
      .argument('<memory-id>')
      .action((memoryId: string) => run((context) => act(context, memoryId)));
  };
  onId('show', 'show a memory and where it came from', (context, memoryId) =>
    context.runOp('memory.get', { memoryId }, { human: describe }),
  );
  onId('promote', 'keep a candidate', (context, memoryId) =>
    context.runOp('memory.promote', { memoryId }, { human: (view) => [`Kept ${memoryId}.`, ...openOf(view)].join('\n') }),
  );
  onId('reject', 'drop a candidate', (context, memoryId) =>
    context.runOp('memory.reject', { memoryId }, { human: () => `Dropped ${memoryId}.` }),
  );
  onId('forget', 'forget a memory', (context, memoryId) =>
    context.runOp('memory.forget', { memoryId }, { human: () => `Forgot ${memoryId}.` }),
  );
  memory
    .command('pin')
    .description('keep a memory from decaying')
    .argument('<memory-id>')
    .option('--off', 'let it decay again')
    .action((memoryId: string, { off }: { off?: boolean }) =>
      run((context) =>
        context.runOp(
          'memory.pin',
          { memoryId, pinned: off !== true },
          { human: ({ pinned }) => `${memoryId} is ${pinned ? 'pinned' : 'no longer pinned'}.` },
        ),
      ),
    );
}

function list(context: CommandContext, { query, state, kind, scope, archived, contradicted, limit }: ListOptions): Promise<number> {
  const params: OpParams<'memory.list'> = {
    ...(query === undefined ? {} : { query }),
    ...(state === undefined ? {} : { state: oneOf(memoryStates, state, '--state') }),
    ...(kind === undefined ? {} : { kind: oneOf(memoryKinds, kind, '--kind') }),
    ...(scope === undefined ? {} : { scope }),
    ...(archived === true ? { archived } : {}),
    ...(contradicted === true ? { contradicted } : {}),
    ...limited(limit),
  };
  return context.runOp('memory.list', params, {
    human: ({ memories }) => table(['MEMORY', 'STATE', 'KIND', 'SINCE', 'SCOPE', 'TEXT'], memories.map(row), 'Nothing is remembered.'),
  });
}

function recall(context: CommandContext, query: string, { agent, limit }: { agent?: string; limit?: string }): Promise<number> {
  const params = { query, ...(agent === undefined ? {} : { agentId: agent }), ...limited(limit) };
  return context.runOp('memory.recall', params, {
    human: ({ hits }) => table(['MEMORY', 'STATE', 'KIND', 'SINCE', 'SCOPE', 'TEXT'], hits.map(row), 'Nothing was remembered about that.'),
  });
}

function add(context: CommandContext, text: string, { kind, scope, importance, pin }: AddOptions): Promise<number> {
  const params: OpParams<'memory.add'> = {
    text,
    ...(kind === undefined ? {} : { kind: oneOf(memoryKinds, kind, '--kind') }),
    ...(scope === undefined ? {} : { scope }),
    ...(importance === undefined ? {} : { importance: shareOf(importance) }),
    ...(pin === true ? { pinned: true } : {}),
  };
  return context.runOp('memory.add', params, {
    human: (view) => [`Remembered as ${view.memoryId}.`, ...openOf(view)].join('\n'),
  });
}

/** What a person should settle: until then the agent is told one of the two. */
function openOf({ memoryId, contradictions }: MemoryView): string[] {
  return contradictions.flatMap(({ otherId, otherText }) => [
    `It contradicts ${otherId}: ${otherText}`,
    `Say which holds: trayclaw memory settle ${memoryId} ${otherId} this|other|both`,
  ]);
}

function exportAll(context: CommandContext, out: string | undefined): Promise<number> {
  return context.runOp(
    'memory.export',
    {},
    {
      human: ({ text, count }) => {
        if (out === undefined) return text.trimEnd();
        writeNew(out, text);
        return `Wrote ${count} memories to ${out}.`;
      },
    },
  );
}

function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    throw new AppError('invalid_params', `${file} could not be written.`, { cause, data: { hint: 'Name a file that is not there yet.' } });
  }
}

async function importAll(context: CommandContext, file: string, state: string | undefined): Promise<number> {
  const text = file === '-' ? await context.readStdin() : readText(file);
  const params = { text, ...(state === undefined ? {} : { state: oneOf(memoryStates, state, '--state') }) };
  return context.runOp('memory.import', params, { human: ({ added, known }) => `Read in ${added}; ${known} were known.` });
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new AppError('invalid_params', `${file} could not be read.`, { cause });
  }
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

function shareOf(text: string): number {
  const share = Number(text);
  if (text.trim() === '' || !(share >= 0 && share <= 1)) throw new AppError('invalid_params', '--importance is a number from 0 to 1.');
  return share;
}
