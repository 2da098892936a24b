// `sessions` and `artifacts`: what was said and what was made.

import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { AppError } from '../../contracts/errors.ts';
import type { OpResult } from '../../contracts/ops.ts';
import type { SessionInfo } from '../../contracts/op-results.ts';
import { parseCount, type CommandContext, type Run } from './command-context.ts';
import { exitCodes } from './exit-code.ts';
import { LineReader } from './line-reader.ts';
import { facts, size, table, when } from './table.ts';
import { cliCaller } from './caller.ts';

const artifactChunkBytes = 1_000_000;

export function registerSessions(program: Command, run: Run): void {
  program
    .command('history')
    .description('the latest conversations and how each stands')
    .option('--limit <n>', 'how many at most; 10 by default')
    .action((options: { limit?: string }) => run((context) => showHistory(context, options.limit)));
  const sessions = program.command('sessions').description('conversations');
  registerCompact(sessions, run);
  sessions
    .command('list')
    .description('list the conversations, newest first')
    .option('--archived', 'the archived ones')
    .option('--limit <n>', 'how many at most')
    .action((options: { archived?: boolean; limit?: string }) => run((context) => listSessions(context, options)));
  sessions
    .command('show')
    .description('show the events of a session')
    .argument('<id>')
    .option('--limit <n>', 'how many events at most')
    .action((sessionId: string, options: { limit?: string }) => run((context) => showSession(context, sessionId, options.limit)));
  sessions
    .command('search')
    .description('search what was said')
    .argument('<query...>')
    .option('--limit <n>', 'how many hits at most')
    .action((words: string[], options: { limit?: string }) => run((context) => searchSessions(context, words.join(' '), options.limit)));
  sessions
    .command('fork')
    .description('begin a new session with what was said so far')
    .argument('<id>')
    .option('--at <n>', 'after this event of the session')
    .option('--title <text>', 'the title of the new session')
    .action((sessionId: string, options: { at?: string; title?: string }) => run((context) => forkSession(context, sessionId, options)));
  registerSessionChanges(sessions, run);
}

function registerSessionChanges(sessions: Command, run: Run): void {
  sessions
    .command('rename')
    .description('give a session another title')
    .argument('<id>')
    .argument('<title>')
    .action((sessionId: string, title: string) =>
      run((context) => context.runOp('session.rename', { sessionId, title }, { human: sessionLine })),
    );
  sessions
    .command('archive')
    .description('take a session out of the list')
    .argument('<id>')
    .option('--undo', 'take it out of the archive')
    .action((sessionId: string, options: { undo?: boolean }) =>
      run((context) => context.runOp('session.archive', { sessionId, archived: options.undo !== true }, { human: sessionLine })),
    );
  sessions
    .command('pin')
    .description('keep a session at the top of the list')
    .argument('<id>')
    .option('--undo', 'no longer first')
    .action((sessionId: string, options: { undo?: boolean }) =>
      run((context) => context.runOp('session.pin', { sessionId, pinned: options.undo !== true }, { human: sessionLine })),
    );
  sessions
    .command('seen')
    .description('mark a session as read')
    .argument('<id>')
    .action((sessionId: string) => run((context) => context.runOp('session.seen', { sessionId }, { human: sessionLine })));
  sessions
    .command('configure')
    .description('choose model and agent of a session')
    .argument('<id>')
    .option('--model <ref>', 'the model of its next turns; "default" for the usual one')
    .option('--agent <id>', 'the agent of its next turns')
    .action((sessionId: string, options: { model?: string; agent?: string }) =>
      run((context) => configureSession(context, sessionId, options)),
    );
  sessions
    .command('export')
    .description('print a session, to keep')
    .argument('<id>')
    .option('--format <form>', 'jsonl or markdown', 'jsonl')
    .action((sessionId: string, options: { format: string }) => run((context) => exportSession(context, sessionId, options.format)));
  sessions
    .command('delete')
    .description('delete a session for good')
    .argument('<id>')
    .option('--yes', 'without asking')
    .action((sessionId: string, options: { yes?: boolean }) => run((context) => deleteSession(context, sessionId, options.yes === true)));
}

function configureSession(
  context: CommandContext,
  sessionId: string,
  { model, agent }: { model?: string; agent?: string },
): Promise<number> {
  const params = {
    sessionId,
    ...(model === undefined ? {} : { model: model === 'default' ? null : model }),
    ...(agent === undefined ? {} : { agentId: agent }),
  };
  return context.runOp('session.configure', params, { human: sessionLine });
}

function listSessions(context: CommandContext, options: { archived?: boolean; limit?: string }): Promise<number> {
  const params = {
    ...(options.archived === true ? { archived: true } : {}),
    ...(options.limit === undefined ? {} : { limit: parseCount(options.limit, '--limit') }),
  };
  return context.runOp('session.list', params, {
    json: (result) => result.sessions,
    human: (result) =>
      table(
        ['SESSION', 'CHANGED', 'STATUS', 'TITLE'],
        result.sessions.map((one) => [one.sessionId, when(one.updatedAtMs), one.status ?? '-', one.title]),
        'No sessions.',
      ),
  });
}

function showHistory(context: CommandContext, limit: string | undefined): Promise<number> {
  const params = { limit: limit === undefined ? 10 : parseCount(limit, '--limit') };
  return context.runOp('session.list', params, {
    json: (result) => result.sessions,
    human: ({ sessions }) =>
      table(
        ['WHEN', 'SESSION', 'STATUS', 'TITLE', 'LAST WORDS'],
        sessions.map((one) => [when(one.updatedAtMs), one.sessionId, one.status ?? '-', one.title, one.lastText]),
        'Nothing was said yet.',
      ),
  });
}

function showSession(context: CommandContext, sessionId: string, limit: string | undefined): Promise<number> {
  const params = { sessionId, ...(limit === undefined ? {} : { limit: parseCount(limit, '--limit') }) };
  return context.runOp('session.get', params, {
    human: ({ session, events }) =>
      `${sessionLine(session)}\n\n` +
      table(
        ['#', 'WHEN', 'EVENT', 'WHAT'],
        events.map((one) => [String(one.sessionSeq), when(one.atMs), one.type, eventText(one.body)]),
        'No events.',
      ),
  });
}

function eventText(body: unknown): string {
  return typeof body === 'object' && body !== null && 'text' in body ? String(body.text) : JSON.stringify(body);
}

function searchSessions(context: CommandContext, query: string, limit: string | undefined): Promise<number> {
  const params = { query, ...(limit === undefined ? {} : { limit: parseCount(limit, '--limit') }) };
  return context.runOp('session.search', params, {
    json: (result) => result.hits,
    human: ({ hits }) =>
      table(
        ['SESSION', 'WHEN', 'WHAT'],
        hits.map((one) => [one.sessionId, when(one.atMs), one.excerpt]),
        'Nothing found.',
      ),
  });
}

function forkSession(context: CommandContext, sessionId: string, options: { at?: string; title?: string }): Promise<number> {
  const params = {
    sessionId,
    ...(options.at === undefined ? {} : { atSessionSeq: parseCount(options.at, '--at') }),
    ...(options.title === undefined ? {} : { title: options.title }),
  };
  return context.runOp('session.fork', params, { human: sessionLine });
}

function exportSession(context: CommandContext, sessionId: string, format: string): Promise<number> {
  if (format !== 'jsonl' && format !== 'markdown') throw new AppError('invalid_params', 'The format is jsonl or markdown.');
  return context.runOp('session.export', { sessionId, format }, { human: ({ text }) => text });
}

async function deleteSession(context: CommandContext, sessionId: string, isSure: boolean): Promise<number> {
  if (!isSure && !context.hasPerson)
    throw new AppError('invalid_params', 'Nothing was deleted: with no terminal to ask at, deleting needs --yes.');
  if (!isSure && !(await confirm(context, `Delete ${sessionId} for good? Type yes: `))) {
    context.output.say('Nothing was deleted.');
    return exitCodes.failed;
  }
  return context.runOp('session.delete', { sessionId }, { human: (result) => `Deleted ${result.sessionId} (${result.events} events).` });
}

async function confirm(context: CommandContext, question: string): Promise<boolean> {
  const lines = await LineReader.open(context.io);
  try {
    return (await lines.ask(question))?.trim().toLowerCase() === 'yes';
  } finally {
    lines.close();
  }
}

function sessionLine(session: SessionInfo): string {
  return `${session.sessionId}  ${session.title}${session.archived ? ' (archived)' : ''}`;
}

export function registerArtifacts(program: Command, run: Run): void {
  const artifacts = program.command('artifacts').description('files that were made or seen');
  artifacts
    .command('list')
    .description('list the files, newest first')
    .option('--session <id>', 'of this session only')
    .option('--limit <n>', 'how many at most')
    .action((options: { session?: string; limit?: string }) => run((context) => listArtifacts(context, options)));
  artifacts
    .command('get')
    .description('print a file, or write it to a new one')
    .argument('<id>', 'its SHA-256, the beginning of it, or a name')
    .option('--out <file>', 'write it to a new file')
    .option('--offset <bytes>', 'from here on (with --json)')
    .action((artifact: string, options: { out?: string; offset?: string }) => run((context) => getArtifact(context, artifact, options)));
}

function listArtifacts(context: CommandContext, options: { session?: string; limit?: string }): Promise<number> {
  const params = {
    ...(options.session === undefined ? {} : { sessionId: options.session }),
    ...(options.limit === undefined ? {} : { limit: parseCount(options.limit, '--limit') }),
  };
  return context.runOp('artifact.list', params, {
    json: (result) => result.artifacts,
    human: (result) =>
      table(
        ['SHA-256', 'SIZE', 'TYPE', 'NAME'],
        result.artifacts.map((one) => [one.sha256, size(one.sizeBytes), one.mediaType, one.name]),
        'No artifacts.',
      ),
  });
}

function getArtifact(context: CommandContext, artifact: string, options: { out?: string; offset?: string }): Promise<number> {
  if (context.output.isJson && options.out === undefined) {
    const offset = options.offset === undefined ? {} : { offset: parseCount(options.offset, '--offset') };
    return context.runOp('artifact.get', { artifact, ...offset }, { human: () => '' });
  }
  return context.withClaw('any', async ({ claw }) => {
    const chunks: Buffer[] = [];
    let about: OpResult<'artifact.get'>['artifact'] | null = null;
    for (let offset: number | null = 0; offset !== null;) {
      const part: OpResult<'artifact.get'> = await claw.op('artifact.get', { artifact, offset, length: artifactChunkBytes }, cliCaller);
      about = part.artifact;
      chunks.push(part.base64 === null ? Buffer.from(part.text ?? '') : Buffer.from(part.base64, 'base64'));
      offset = part.nextOffset;
    }
    if (options.out === undefined) context.output.raw(Buffer.concat(chunks));
    else saveArtifact(context, resolve(context.io.cwd, options.out), { about, bytes: Buffer.concat(chunks) });
    return exitCodes.done;
  });
}

function saveArtifact(context: CommandContext, file: string, content: { readonly about: unknown; readonly bytes: Buffer }): void {
  try {
    writeFileSync(file, content.bytes, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    throw new AppError('conflict', `Can not write the new file ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
  context.output.result({ artifact: content.about, file }, () =>
    facts([
      ['File', file],
      ['Size', size(content.bytes.length)],
    ]),
  );
}

function registerCompact(sessions: Command, run: Run): void {
  sessions
    .command('compact')
    .description('summarize the older messages now')
    .argument('<id>')
    .action((sessionId: string) => run((context) => context.runOp('session.compact', { sessionId }, { human: describeCompacted })));
}

function describeCompacted({ summaryId, messages, text, method }: OpResult<'session.compact'>): string {
  if (summaryId === null) return 'There is nothing to sum up yet.';
  return `${messages} messages are summed up${method === 'extract' ? ' by rule, without a model' : ''}.\n\n${text}`;
}
