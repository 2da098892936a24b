// Commands on what was done: a search over all sessions, the events of one turn, and a turn to keep.

import type { Command } from 'commander';
import { activityKinds, activityOutcomes } from '../../contracts/activity-kinds.ts';
import type { OpParams } from '../../contracts/ops.ts';
import { parseCount, type CommandContext, type Run } from './command-context.ts';
import { table, when } from './table.ts';
import { oneOf } from './words.ts';

interface SearchOptions {
  readonly kind?: readonly string[];
  readonly tool?: string;
  readonly outcome?: string;
  readonly session?: string;
  readonly before?: string;
  readonly limit?: string;
}

export function registerActivity(program: Command, run: Run): void {
  const activity = program.command('activity').description('what was done, in all sessions');
  activity
    .command('search')
    .description('search calls, decisions, approvals, changed files and errors, newest first')
    .argument('[words...]')
    .option('--kind <kinds...>', activityKinds.join(', '))
    .option('--tool <name>', 'calls of this tool only')
    .option('--outcome <word>', activityOutcomes.join(', '))
    .option('--session <id>', 'in this session only')
    .option('--before <seq>', 'only what came before this place of the log')
    .option('--limit <n>', 'how many at most')
    .action((words: string[], options: SearchOptions) => run((context) => search(context, words.join(' '), options)));
  activity
    .command('events')
    .description('list the events of one turn')
    .argument('<turn-id>')
    .option('--after <seq>', 'only what came after this place of the log')
    .option('--limit <n>', 'how many at most')
    .action((turnId: string, options: { after?: string; limit?: string }) => run((context) => listEvents(context, turnId, options)));
  activity
    .command('export')
    .description('export one turn')
    .argument('<turn-id>')
    .option('--format <form>', 'jsonl or markdown', 'jsonl')
    .action((turnId: string, { format }: { format: string }) => run((context) => exportTurn(context, turnId, format)));
}

function search(context: CommandContext, query: string, options: SearchOptions): Promise<number> {
  const { kind, tool, outcome, session, before, limit } = options;
  const params: OpParams<'activity.search'> = {
    ...(query === '' ? {} : { query }),
    ...(kind === undefined ? {} : { kinds: kind.map((one) => oneOf(activityKinds, one, '--kind')) }),
    ...(tool === undefined ? {} : { tool }),
    ...(outcome === undefined ? {} : { outcome: oneOf(activityOutcomes, outcome, '--outcome') }),
    ...(session === undefined ? {} : { sessionId: session }),
    ...(before === undefined ? {} : { before: parseCount(before, '--before') }),
    ...(limit === undefined ? {} : { limit: parseCount(limit, '--limit') }),
  };
  return context.runOp('activity.search', params, {
    json: ({ hits }) => hits,
    human: ({ hits }) =>
      table(
        ['WHEN', 'TURN', 'KIND', 'OUTCOME', 'WHAT'],
        hits.map((one) => [when(one.atMs), one.turnId ?? '', one.kind, one.outcome ?? '', one.excerpt]),
        'Nothing found.',
      ),
  });
}

function listEvents(context: CommandContext, turnId: string, { after, limit }: { after?: string; limit?: string }): Promise<number> {
  const from = after === undefined ? {} : { after: parseCount(after, '--after') };
  const most = limit === undefined ? {} : { limit: parseCount(limit, '--limit') };
  return context.runOp(
    'turn.events',
    { turnId, ...from, ...most },
    {
      human: ({ events }) =>
        table(
          ['SEQ', 'WHEN', 'STEP', 'PHASE', 'TYPE'],
          events.map((one) => [String(one.seq), when(one.atMs), String(one.step), one.phase ?? '', one.type]),
          'Nothing was recorded.',
        ),
    },
  );
}

function exportTurn(context: CommandContext, turnId: string, format: string): Promise<number> {
  const form = oneOf(['jsonl', 'markdown'] as const, format, '--format');
  return context.runOp('turn.export', { turnId, format: form }, { human: ({ text }) => text });
}
