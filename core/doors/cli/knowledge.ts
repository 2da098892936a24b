// Commands on the person's documents: which folders, files and texts are sources, and what is found in them.

import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Claw } from '../../contracts/claw.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import type { OpParams, OpResult } from '../../contracts/ops.ts';
import { limited, type CommandContext, type Run } from './command-context.ts';
import { confirmed } from './confirmed.ts';
import { exitCodes } from './exit-code.ts';
import { table, when } from './table.ts';

interface AddOptions {
  readonly endings?: string;
  readonly watch: boolean;
  readonly text?: string;
  readonly title?: string;
  readonly outside?: boolean;
  readonly wait: boolean;
}

type Sources = OpResult<'knowledge.list'>['sources'];

const cliCaller = { channel: 'cli', actor: 'cli' } as const;
const restartNote = ' The running instance was given settings of its own; this holds from its next start on.';
const LOOK_MS = 200;

export function registerKnowledge(program: Command, run: Run): void {
  const knowledge = program.command('knowledge').description('indexed documents');
  knowledge
    .command('list')
    .description('list the document sources and the state of vector search')
    .action(() => run((context) => context.runOp('knowledge.list', {}, { human: describeSources })));
  knowledge
    .command('status')
    .description('list the documents of a source, those with a problem first')
    .argument('<source>')
    .option('--limit <n>', 'how many at most')
    .action((source: string, { limit }: { limit?: string }) => run((context) => status(context, source, limit)));
  knowledge
    .command('search')
    .description('search the documents; each passage with its citation')
    .argument('<query...>')
    .option('--source <name>', 'in this source only')
    .option('--limit <n>', 'how many at most')
    .action((query: string[], options: { source?: string; limit?: string }) => run((context) => search(context, query.join(' '), options)));
  knowledge
    .command('add')
    .description('add a folder, a file or a text to search')
    .argument('<name>')
    .argument('[path]')
    .option('--endings <list>', 'only these, such as md,txt')
    .option('--no-watch', 'look every ten minutes only, instead of following changes')
    .option('--text <markdown>', 'in place of a path: the text itself; - for standard input')
    .option('--title <title>', 'of the text')
    .option('--outside', 'it may lie outside of the folders that are open to the agent')
    .option('--no-wait', 'do not wait until it is read')
    .action((name: string, path: string | undefined, options: AddOptions) => run((context) => add(context, name, path, options)));
  knowledge
    .command('preview')
    .description('show what adding a folder or a file would index; changes nothing')
    .argument('<path>')
    .option('--endings <list>', 'only these, such as md,txt')
    .action((path: string, { endings }: { endings?: string }) =>
      run((context) =>
        context.runOp(
          'knowledge.preview',
          { path: pathOf(context, path), ...(endings === undefined ? {} : { endings: endingsOf(endings) }) },
          { human: describePreview, exitCode: ({ problem }) => (problem === null ? exitCodes.done : exitCodes.failed) },
        ),
      ),
    );
  knowledge
    .command('remove')
    .description('remove a source; the documents stay where they are')
    .argument('<name>')
    .action((source: string) =>
      run((context) =>
        context.runOp('knowledge.remove', { source }, { human: ({ holds }) => `Removed ${source}.${holds === 'now' ? '' : restartNote}` }),
      ),
    );
  knowledge
    .command('reindex')
    .description('read every document again')
    .argument('[source]')
    .action((source: string | undefined) =>
      run((context) =>
        context.runOp('knowledge.reindex', source === undefined ? {} : { source }, {
          human: ({ documents, changed, removed, failed }) =>
            `${documents} documents: ${changed} read, ${removed} taken out, ${failed} could not be read.`,
        }),
      ),
    );
}

async function add(context: CommandContext, name: string, path: string | undefined, options: AddOptions): Promise<number> {
  const { endings, watch, title, outside, wait } = options;
  const text = options.text === '-' ? await context.readStdin() : options.text;
  const params: OpParams<'knowledge.add'> = {
    name,
    ...(path === undefined ? {} : { path: pathOf(context, path) }),
    ...(endings === undefined ? {} : { endings: endingsOf(endings) }),
    ...(watch ? {} : { watch }),
    ...(text === undefined ? {} : { text }),
    ...(title === undefined ? {} : { title }),
    ...(outside === true ? { outside } : {}),
  };
  return context.withClaw('any', async ({ claw }) => {
    const added = await addAsked(context, claw, params);
    if (added === null) return exitCodes.failed;
    const read = wait && added.holds === 'now' ? await whenRead(context, claw, name) : null;
    context.output.result(added, () => {
      if (added.holds !== 'now') return `Added ${name}.${restartNote}`;
      return read === null ? `Added ${name}; it is read in the background.` : `Added ${name}: ${factsOf(read)}`;
    });
    return exitCodes.done;
  });
}

/** A `~` that the shell left alone is the person's own folder all the same. */
function pathOf(context: CommandContext, path: string): string {
  return path.startsWith('~') ? path : resolve(context.io.cwd, path);
}

function endingsOf(list: string): string[] {
  return list.split(',').map((ending) => ending.trim().replace(/^\./, ''));
}

function describePreview({ path, kind, files, more, outside, problem }: OpResult<'knowledge.preview'>): string {
  if (problem !== null) return problem;
  const what =
    kind === 'file'
      ? `${path}: one file.`
      : `${path}: ${more ? 'more than ' : ''}${files} ${files === 1 ? 'file' : 'files'} that can be read.`;
  return outside ? `${what}\nIt lies outside of the folders that are open to the agent; as a source it is opened for reading.` : what;
}

/** Null where the person was asked whether it may lie outside, and did not say yes. */
async function addAsked(context: CommandContext, claw: Claw, params: OpParams<'knowledge.add'>): Promise<OpResult<'knowledge.add'> | null> {
  try {
    return await claw.op('knowledge.add', params, cliCaller);
  } catch (cause) {
    if (!isAppError(cause) || cause.data['needs'] !== 'outside') throw cause;
    const hint = 'What it holds may then be shown to the agent and its model; --outside says yes to that.';
    if (!context.hasPerson) throw new AppError(cause.code, cause.message, { cause, data: { hint } });
    const words = `${cause.message}\nWhat it holds may then be shown to the agent and its model, as words of others.`;
    if (!(await confirmed(context, words, 'Add it all the same?'))) {
      context.output.note('Nothing was added.');
      return null;
    }
    return claw.op('knowledge.add', { ...params, outside: true }, cliCaller);
  }
}

/** Says how far it is. Null where Ctrl-C ended the waiting; reading then goes on in a running instance, or at the next start. */
async function whenRead(context: CommandContext, claw: Claw, name: string): Promise<Sources[number] | null> {
  const over = new AbortController();
  const stopListening = context.io.onInterrupt(() => over.abort());
  let said = '';
  try {
    while (!over.signal.aborted) {
      const { sources, indexing } = await claw.op('knowledge.list', {}, cliCaller);
      const source = sources.find((one) => one.name === name);
      if (!indexing || source === undefined) return source ?? null;
      const now = describeProgress(sources);
      if (now !== said && context.io.stderrIsTty) context.output.note(now);
      said = now;
      await pause(LOOK_MS, undefined, { signal: over.signal }).catch(() => undefined);
    }
    return null;
  } finally {
    stopListening();
  }
}

function factsOf({ documents, chunks, failed, problem }: Sources[number]): string {
  const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;
  return `${counted(documents, 'document')}, ${counted(chunks, 'passage')}${failed === 0 ? '' : `, ${failed} could not be read`}.${problem === null ? '' : ` ${problem}`}`;
}

function describeProgress(sources: Sources): string {
  const [under] = sources.flatMap(({ name, progress }) => (progress === null ? [] : [{ name, ...progress }]));
  return under === undefined ? 'Documents are being read.' : `Documents are being read: ${under.name}, ${under.done} of ${under.total}.`;
}

function status(context: CommandContext, source: string, limit: string | undefined): Promise<number> {
  return context.runOp(
    'knowledge.status',
    { source, ...limited(limit) },
    {
      human: ({ documents }) =>
        table(
          ['DOCUMENT', 'PASSAGES', 'BYTES', 'READ', 'PROBLEM'],
          documents.map((one) => [one.path, String(one.chunks), String(one.sizeBytes), when(one.indexedAtMs), one.problem ?? '-']),
          'It holds no documents.',
        ),
    },
  );
}

function search(context: CommandContext, query: string, { source, limit }: { source?: string; limit?: string }): Promise<number> {
  const params = { query, ...(source === undefined ? {} : { source }), ...limited(limit) };
  return context.runOp('knowledge.search', params, {
    human: ({ evidence }) =>
      evidence.length === 0
        ? 'Nothing was found in the documents.'
        : evidence.map(({ citation, heading, text }) => `[${citation}]${heading === '' ? '' : ` ${heading}`}\n${text}`).join('\n\n'),
  });
}

function describeSources({ sources, indexing, embedder }: OpResult<'knowledge.list'>): string {
  const rows = sources.map((one) => [
    one.name,
    one.kind,
    String(one.documents),
    String(one.chunks),
    String(one.failed),
    one.problem ?? one.path ?? '-',
  ]);
  const meaning =
    embedder.model === null
      ? (embedder.problem ?? 'Words alone are searched; embeddings in config.yaml add search by meaning.')
      : `Search by meaning: ${embedder.model}${embedder.waiting > 0 ? `, ${embedder.waiting} texts wait for a vector` : ''}${embedder.problem === null ? '' : ` (${embedder.problem})`}.`;
  const busy = indexing ? `\n${describeProgress(sources)}` : '';
  return `${table(['SOURCE', 'KIND', 'DOCUMENTS', 'PASSAGES', 'FAILED', 'WHERE'], rows, 'There are no sources; trayclaw knowledge add NAME PATH adds a folder.')}\n\n${meaning}${busy}`;
}
