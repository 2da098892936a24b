// The grep tool: finds lines that match an expression, in one file or below a folder. Bounded, cancellable, skips binary and protected
// files.

import { stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { Worker } from 'node:worker_threads';
import * as z from 'zod';
import { counted } from '../../base/counted.ts';
import { endThread } from '../../base/end-thread.ts';
import type { ToolContext, ToolDefinition, ToolResult } from '../../contracts/tools.ts';
import type { CheckedPaths } from './checked-paths.ts';
import { defineTool } from './define-tool.ts';
import { fileError } from './errno.ts';
import { newWalkReport, walkFiles, walkRemarks, type WalkReport } from './folder-walk.ts';
import { pathForModel, pathMatcher } from './glob.ts';
import { createLineCollector, type GrepLine, type GrepReply, type GrepWorkerData, grepWorkerMain } from './grep-worker.ts';
import { printable } from './list-dir.ts';
import { folderArgument, shownPath } from './path-argument.ts';
import type { KnownFolders } from './path-facts.ts';
import { fileBytesMax } from './text-file.ts';

const MATCHES_MAX = 500;
const BATCH_FILES = 32;
const STALL_MS = 2000;
/** Long enough for generated code and for records of a line each. */
const LINE_CHARS_MAX = 1_000_000;
const SHOWN_CHARS_MAX = 500;
const LEAD_CHARS = 120;
const CUT_MARGIN_CHARS = 16_384;

const input = z.strictObject({
  pattern: z.string().min(1).max(1000).describe('Regular expression (JavaScript syntax), matched against each line.'),
  path: folderArgument.describe('File or folder to search; default: the workspace.'),
  glob: z.string().min(1).max(1000).optional().describe('Search only files whose path matches, such as *.ts or src/**/*.md.'),
  ignoreCase: z.boolean().optional(),
  context: z.number().int().min(0).max(20).optional().describe('Number of lines to show before and after each match.'),
});
type Args = z.infer<typeof input>;

export interface GrepDeps {
  readonly paths: CheckedPaths;
  /** How long one section of a file may take before the expression is aborted. */
  readonly stallMs?: number;
}

/** One search: its request, and its findings so far. */
interface SearchJob {
  readonly real: string;
  readonly args: Args;
  readonly folders: KnownFolders;
  readonly signal: AbortSignal;
  readonly redact: (text: string) => string;
  readonly report: WalkReport;
  readonly out: string[];
  matches: number;
  more: boolean;
  skippedProtected: number;
  unreadable: number;
  cutLines: number;
}

export function createGrep(deps: GrepDeps): ToolDefinition {
  return defineTool({
    name: 'grep',
    description:
      'Search file contents line by line with a regular expression. Results have the form path:line:text. Skips binary files, .git and what .gitignore excludes.',
    input,
    class: 'read',
    shows: { verb: 'search_for', target: ['pattern'] },
    idempotency: () => 'pure',
    timeoutMs: 90_000,
    facts: (args, context) => deps.paths.callFacts(args, args.path, 'read', context),
    summarize: (args) => `search ${shownPath(args.path)} for ${shownPath(args.pattern)}`,
    async run(args, context) {
      const { real } = deps.paths.confirm(args, args.path, 'read', context);
      const flags = expressionFlags(args);
      const problem = expressionProblem(flags.pattern, flags.flags);
      if (problem !== null) return { forModel: `The pattern is not a valid regular expression: ${problem}`, isError: true };
      const search = new LineSearch({
        ...flags,
        contextLines: args.context ?? 0,
        lineCharsMax: LINE_CHARS_MAX,
        // Lines are redacted before they are cut, because half a secret is not recognised.
        shownCharsMax: SHOWN_CHARS_MAX + CUT_MARGIN_CHARS,
        linesMax: MATCHES_MAX,
        wideBytesMax: fileBytesMax,
        stallMs: deps.stallMs ?? STALL_MS,
        signal: context.signal,
      });
      try {
        return await searchAll(search, newJob(real, args, deps.paths.folders(context), context));
      } finally {
        await search.close();
      }
    },
  });
}

function newJob(real: string, args: Args, folders: KnownFolders, { signal, redaction }: ToolContext): SearchJob {
  const redact = (text: string): string => redaction?.redact(text) ?? text;
  return {
    real,
    args,
    folders,
    signal,
    redact,
    report: newWalkReport(),
    out: [],
    matches: 0,
    more: false,
    skippedProtected: 0,
    unreadable: 0,
    cutLines: 0,
  };
}

async function searchAll(search: LineSearch, job: SearchJob): Promise<ToolResult> {
  let stop: SearchStop | null = null;
  for await (const batch of batches(job)) {
    stop = await search.search(batch, (reply) => collect(reply, job));
    if (stop !== null || job.more) break;
  }
  return present(job, stop);
}

/** The files to search, in batches: the named file, or those that the walk finds. */
async function* batches(job: SearchJob): AsyncGenerator<string[], void, undefined> {
  if (!(await isFolder(job.real))) {
    yield [job.real];
    return;
  }
  const matches = job.args.glob === undefined ? null : fileMatcher(job.args.glob);
  let batch: string[] = [];
  for await (const file of walkFiles({ root: job.real, folders: job.folders, signal: job.signal }, job.report)) {
    if (file.isLink || (matches !== null && !matches(relative(job.real, file.path)))) continue;
    if (file.isProtected) {
      job.skippedProtected += 1;
      continue;
    }
    batch.push(file.path);
    if (batch.length === BATCH_FILES) {
      yield batch;
      batch = [];
    }
  }
  yield batch;
}

async function isFolder(real: string): Promise<boolean> {
  try {
    return (await stat(real)).isDirectory();
  } catch (cause) {
    throw fileError('search', real, cause);
  }
}

/** A pattern without a slash matches the file's name in any folder, as people expect. */
function fileMatcher(glob: string): (path: string) => boolean {
  return pathMatcher(glob.includes('/') ? glob : `**/${glob}`);
}

/** Accepts the leading `(?i)` of other dialects. */
function expressionFlags(args: Args): { pattern: string; flags: string } {
  const inline = args.pattern.startsWith('(?i)');
  return {
    pattern: inline ? args.pattern.slice(4) : args.pattern,
    flags: inline || args.ignoreCase === true ? 'i' : '',
  };
}

function expressionProblem(pattern: string, flags: string): string | null {
  try {
    RegExp(pattern, flags);
    return null;
  } catch (cause) {
    return cause instanceof Error ? cause.message.replace(/^Invalid regular expression: /, '') : 'unknown reason';
  }
}

/** The start of a line, or what surrounds a match that the start does not show. */
function cutLine({ text, at }: GrepLine): string {
  const from = at > SHOWN_CHARS_MAX - LEAD_CHARS ? at - LEAD_CHARS : 0;
  const shown = text.slice(from, from + SHOWN_CHARS_MAX).toWellFormed();
  return `${from > 0 ? '…' : ''}${shown}${from + SHOWN_CHARS_MAX < text.length ? '…' : ''}`;
}

/** Redacts consecutive lines together, because a key may span several; such a group stays one piece. */
function withoutSecrets(lines: readonly GrepLine[], redact: (text: string) => string): GrepLine[] {
  const safe: GrepLine[] = [];
  for (let from = 0; from < lines.length;) {
    let to = from + 1;
    while (to < lines.length && lines[to]?.line === (lines[to - 1]?.line ?? 0) + 1) to += 1;
    const group = lines.slice(from, to);
    const together = redact(group.map(({ text }) => text).join('\n')).split('\n');
    const first = group[0];
    if (together.length === group.length) safe.push(...group.map((line, index) => redactedLine(line, together[index] ?? '', redact)));
    else if (first !== undefined) safe.push({ ...first, text: together.join(' '), isMatch: group.some(({ isMatch }) => isMatch) });
    from = to;
  }
  return safe;
}

/** A secret that is taken out before a match moves it. */
function redactedLine(line: GrepLine, text: string, redact: (text: string) => string): GrepLine {
  return text === line.text ? line : { ...line, text, at: redact(line.text.slice(0, line.at)).length };
}

function collect(reply: GrepReply, job: SearchJob): void {
  if (reply.kind === 'unreadable') job.unreadable += 1;
  if (reply.kind !== 'searched') return;
  job.cutLines += reply.cutLines;
  if (reply.lines.length === 0 || job.more) return;
  const name = printable(pathForModel(reply.file, job.folders.workspace));
  const hasContext = (job.args.context ?? 0) > 0;
  let last = 0;
  for (const found of withoutSecrets(reply.lines, job.redact)) {
    const { line, isMatch } = found;
    if (isMatch && job.matches === MATCHES_MAX) {
      job.more = true;
      return;
    }
    if (isMatch) job.matches += 1;
    const mark = isMatch ? ':' : '-';
    if (hasContext && job.out.length > 0 && line !== last + 1) job.out.push('--');
    job.out.push(`${name}${mark}${line}${mark}${cutLine(found)}`);
    last = line;
  }
  if (reply.more) job.more = true;
}

function present(job: SearchJob, stop: SearchStop | null): ToolResult {
  const remarks = walkRemarks(job.report, job.out.length > 0);
  if (job.skippedProtected > 0) remarks.push(`${counted(job.skippedProtected, 'protected file')} left out`);
  if (job.unreadable > 0) remarks.push(`${counted(job.unreadable, 'file')} could not be read`);
  if (job.cutLines > 0) remarks.push(`${counted(job.cutLines, 'very long line')} searched only in part`);
  if (job.more) remarks.unshift(`stopped after ${MATCHES_MAX} matching lines; use a narrower pattern, path or glob`);
  if (stop?.kind === 'stalled') {
    remarks.unshift(
      `the pattern takes too long on ${pathForModel(stop.file, job.folders.workspace)} and was stopped there; use a simpler one`,
    );
  }
  if (stop?.kind === 'crashed') remarks.unshift('the search broke off; use a simpler pattern');
  const notes = remarks.length === 0 ? '' : `\n[${remarks.join('; ')}]`;
  const found = job.out.length === 0 ? 'No line matches.' : job.out.join('\n');
  const endedBy = stop?.kind === 'aborted' ? { endedBy: 'cancelled' as const } : {};
  return { forModel: found + notes, isError: stop !== null, ...endedBy };
}

// Searches files line by line in a separate thread, so that an expression that never terminates can be stopped. Owns the thread; each
// search has its own.

interface LineSearchOptions extends GrepWorkerData {
  /** How long one section of a file may take before the expression is aborted. */
  readonly stallMs: number;
  readonly signal: AbortSignal;
}

/** The early end of a batch: `stalled` names the file on which the expression hung. */
type SearchStop = { readonly kind: 'stalled'; readonly file: string } | { readonly kind: 'aborted' | 'crashed' };

type FileReply = Exclude<GrepReply, { kind: 'alive' }>;

class LineSearch {
  readonly #worker: Worker;
  readonly #options: LineSearchOptions;

  constructor(options: LineSearchOptions) {
    this.#options = options;
    const { stallMs: _stallMs, signal: _signal, ...workerData } = options;
    this.#worker = new Worker(`(${grepWorkerMain.toString()})(${createLineCollector.toString()})`, {
      eval: true,
      workerData,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    // A crash outside a batch is noticed by the next batch, which then gets no answer.
    this.#worker.on('error', () => undefined);
  }

  /** Searches the files in order and passes on each answer. Returns why it stopped early, or null. */
  search(files: readonly string[], onReply: (reply: FileReply) => void): Promise<SearchStop | null> {
    if (files.length === 0) return Promise.resolve(null);
    const { stallMs, signal } = this.#options;
    const worker = this.#worker;
    return new Promise((resolve) => {
      let answered = 0;
      const end = (stop: SearchStop | null): void => {
        clearTimeout(timer);
        worker.off('message', onMessage);
        worker.off('exit', onExit);
        signal.removeEventListener('abort', onAbort);
        resolve(stop);
      };
      const timer = setTimeout(() => end({ kind: 'stalled', file: files[answered] ?? '' }), stallMs);
      const onAbort = (): void => end({ kind: 'aborted' });
      const onExit = (): void => end({ kind: 'crashed' });
      const onMessage = (reply: GrepReply): void => {
        timer.refresh();
        if (reply.kind === 'alive') return;
        answered += 1;
        onReply(reply);
        if (answered === files.length) end(null);
      };
      worker.on('message', onMessage);
      worker.on('exit', onExit);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) end({ kind: 'aborted' });
      else worker.postMessage(files);
    });
  }

  async close(): Promise<void> {
    await endThread(this.#worker);
  }
}
