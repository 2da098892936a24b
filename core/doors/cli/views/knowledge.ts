// Views of document sources and passages. Adding a source asks for confirmation if needed and waits until it is indexed.

import { counted } from '../../../base/counted.ts';
import { setTimeout as pause } from 'node:timers/promises';
import type { Claw } from '../../../contracts/claw.ts';
import { AppError, isAppError } from '../../../contracts/errors.ts';
import type { OpParams, OpResult } from '../../../contracts/ops.ts';
import type { CommandContext } from '../command-context.ts';
import { confirmed } from '../questions.ts';
import { exitCodes } from '../exit-code.ts';
import type { Given } from '../kernel/entries.ts';
import { tabled, type ViewsOf } from '../kernel/view.ts';

type Sources = OpResult<'knowledge.list'>['sources'];

const restartNote = ' The running instance has its own settings; this takes effect at its next start.';
const LOOK_MS = 200;

export const knowledgeViews: ViewsOf<'knowledge'> = {
  'knowledge.list': { show: describeSources },
  'knowledge.status': {
    show: ({ documents }) =>
      tabled(
        documents,
        {
          DOCUMENT: 'path',
          PASSAGES: 'chunks',
          BYTES: ({ sizeBytes }) => String(sizeBytes),
          READ: 'indexedAtMs',
          PROBLEM: 'problem',
        },
        'It holds no documents.',
      ),
  },
  'knowledge.preview': {
    params: (params, { given }) => ({ path: '', ...params, ...endingsOf(given) }),
    show: describePreview,
    saysWhyNot: true,
    exitCode: ({ problem }) => (problem === null ? exitCodes.done : exitCodes.failed),
  },
  'knowledge.add': {
    params: async ({ name = '', text, ...others }, { given, context }) => ({
      name,
      ...others,
      ...endingsOf(given),
      ...(text === undefined ? {} : { text: text === '-' ? await context.readText(text) : text }),
    }),
    perform: add,
  },
  'knowledge.remove': { show: ({ source, holds }) => `Removed ${source}.${holds === 'now' ? '' : restartNote}` },
  'knowledge.search': {
    show: ({ evidence }) =>
      evidence.length === 0
        ? 'Nothing was found in the documents.'
        : evidence.map(({ citation, heading, text }) => `[${citation}]${heading === '' ? '' : ` ${heading}`}\n${text}`).join('\n\n'),
  },
};

function add(context: CommandContext, params: OpParams<'knowledge.add'>, { wait }: Given): Promise<number> {
  const { name } = params;
  return context.withClaw('any', async ({ claw }) => {
    const added = await addAsked(context, claw, params);
    if (added === null) return exitCodes.failed;
    const read = wait !== false && added.holds === 'now' ? await whenRead(context, claw, name) : null;
    context.output.result(added, () => {
      if (added.holds !== 'now') return `Added ${name}.${restartNote}`;
      return read === null ? `Added ${name}; it is read in the background.` : `Added ${name}: ${factsOf(read)}`;
    });
    if (read === null || read.problem === null) return exitCodes.done;
    context.output.explain({ message: read.problem, hint: 'It is read again when TrayClaw runs.' });
    return exitCodes.failed;
  });
}

/** Parses a list of file endings such as `md,.txt`. */
function endingsOf({ endings }: Given): { endings?: string[] } {
  return typeof endings === 'string' ? { endings: endings.split(',').map((ending) => ending.trim().replace(/^\./, '')) } : {};
}

/** Null if the person was asked about a folder outside and did not agree. */
async function addAsked(context: CommandContext, claw: Claw, params: OpParams<'knowledge.add'>): Promise<OpResult<'knowledge.add'> | null> {
  try {
    return await claw.op('knowledge.add', params);
  } catch (cause) {
    if (!isAppError(cause) || cause.data['needs'] !== 'outside') throw cause;
    const hint = 'Add --outside to agree. Its content may then be shown to the agent and its model.';
    if (!context.hasPerson) throw new AppError(cause.code, cause.message, { cause, hint });
    const words = `${cause.message}\nIts content may then be shown to the agent and its model, as untrusted content.`;
    if (!(await confirmed(context, words, 'Add it anyway?'))) {
      context.output.note('Nothing was added.');
      return null;
    }
    return claw.op('knowledge.add', { ...params, outside: true });
  }
}

/** Shows the progress. Null if Ctrl-C ended the waiting; indexing then continues in a running instance, or at the next start. */
async function whenRead(context: CommandContext, claw: Claw, name: string): Promise<Sources[number] | null> {
  const over = new AbortController();
  const stopListening = context.io.onInterrupt(() => over.abort());
  let said = '';
  try {
    while (!over.signal.aborted) {
      const { sources, indexing } = await claw.op('knowledge.list', {});
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

function factsOf({ documents, chunks, failed }: Sources[number]): string {
  return `${counted(documents, 'document')}, ${counted(chunks, 'passage')}${failed === 0 ? '' : `, ${failed} could not be read`}.`;
}

function describeProgress(sources: Sources): string {
  const [under] = sources.flatMap(({ name, progress }) => (progress === null ? [] : [{ name, ...progress }]));
  return under === undefined ? 'Documents are being read.' : `Documents are being read: ${under.name}, ${under.done} of ${under.total}.`;
}

function describePreview({ path, kind, files, more, outside, problem }: OpResult<'knowledge.preview'>): string {
  if (problem !== null) return problem;
  const what = kind === 'file' ? `${path}: one file.` : `${path}: ${more ? 'more than ' : ''}${counted(files, 'file')} that can be read.`;
  return outside ? `${what}\nIt is outside the folders that are open to the agent; as a source it is opened for reading.` : what;
}

function describeSources({ sources, indexing, embedder }: OpResult<'knowledge.list'>): string {
  const where = ({ problem, path }: Sources[number]): string => problem ?? path ?? '-';
  const list = tabled(
    sources,
    { SOURCE: 'name', KIND: 'kind', DOCUMENTS: 'documents', PASSAGES: 'chunks', FAILED: 'failed', WHERE: where },
    'There are no sources; trayclaw knowledge add NAME PATH adds a folder.',
  );
  const meaning =
    embedder.model === null
      ? (embedder.problem ?? 'Only full-text search is on; embeddings in config.yaml add vector search.')
      : `Search by meaning: ${embedder.model}${embedder.waiting > 0 ? `, ${embedder.waiting} texts wait for a vector` : ''}${embedder.problem === null ? '' : ` (${embedder.problem})`}.`;
  const busy = indexing ? `\n${describeProgress(sources)}` : '';
  return `${list}\n\n${meaning}${busy}`;
}
