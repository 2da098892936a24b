// The exec tool: runs commands of the system's shell in the foreground or in the background. The guard decides whether a command may run;
// this file only describes it truthfully.

import { stat } from 'node:fs/promises';
import * as z from 'zod';
import { counted } from '../../base/counted.ts';
import { AppError } from '../../contracts/errors.ts';
import type { CallFacts, FactContext, ToolContext, ToolDefinition, ToolResult } from '../../contracts/tools.ts';
import { formatBytes } from './bound-text.ts';
import { plainText } from './command-output.ts';
import { defineTool } from './define-tool.ts';
import { fileError } from './errno.ts';
import { type CommandCall, ExecFacts, type ExecFactsOptions } from './exec-facts.ts';
import { broughtBy, describeEnd, type ExecDeps, runForeground } from './exec-foreground.ts';
import { type ExecSession, ExecSessions } from './exec-sessions.ts';
import { formatSeconds } from './hosted-result.ts';
import { shownPath } from './path-argument.ts';
import { settlesWithin } from '../../base/waits.ts';
import { incompleteTailBytes } from '../../base/utf8-cut.ts';

const TIMEOUT_MS_MAX = 3_600_000;
const POLL_WAIT_MS_MAX = 60_000;
const HOST_GRACE_MS = 10_000;
/** Ending a process tree takes well below a second. */
const ABORT_GRACE_MS = 3_000;

const actions = ['run', 'list', 'poll', 'read', 'write', 'kill'] as const;
type Action = (typeof actions)[number];

const needed: Readonly<Record<Action, readonly ('command' | 'sessionId' | 'data')[]>> = {
  run: ['command'],
  list: [],
  poll: ['sessionId'],
  read: ['sessionId'],
  write: ['sessionId', 'data'],
  kill: ['sessionId'],
};

const input = z
  .strictObject({
    action: z.enum(actions).default('run').describe('run a command, or list, poll, read, write to or kill background commands.'),
    command: z.string().min(1).max(100_000).optional().describe('For run: the command line, for bash (PowerShell on Windows).'),
    cwd: z
      .string()
      .min(1)
      .max(4096)
      .refine((path) => !path.includes('\0'), 'a path cannot hold a NUL byte')
      .optional()
      .describe('For run: the folder to run in; default: the workspace.'),
    background: z
      .boolean()
      .optional()
      .describe('For run: keep it running after the call; the result gives the sessionId for poll, write and kill.'),
    pty: z.boolean().optional().describe('For run: in a terminal, for programs that need one.'),
    sessionId: z.string().min(1).max(100).optional().describe('For poll, read, write and kill: which background command.'),
    data: z.string().max(100_000).optional().describe('For write: the input to send; end it with \\n to send a line.'),
    offset: z.number().int().min(0).optional().describe('For read: first byte of the output to read; default 0.'),
    timeoutMs: z
      .number()
      .int()
      .min(1)
      .max(TIMEOUT_MS_MAX)
      .optional()
      .describe('For run: time limit, after which the command is killed. For poll: how long to wait for new output.'),
  })
  .superRefine((args, check) => {
    for (const key of needed[args.action]) {
      if (args[key] === undefined) check.addIssue({ code: 'custom', path: [key], message: `is needed for the action ${args.action}` });
    }
  });
type Args = z.infer<typeof input>;

export type ExecToolDeps = ExecDeps & ExecFactsOptions;

export function createExec(deps: ExecToolDeps): ToolDefinition {
  const facts = new ExecFacts(deps);
  const sessions = new ExecSessions(deps);
  const sessionActions = new ExecSessionActions(sessions, deps.outputBytesMax, () => deps.clock.monotonicMs());
  return defineTool<Args>({
    name: 'exec',
    description:
      'Run a shell command. For interactive or long-running programs (servers, watchers) set background: true, then use poll, write and kill with the sessionId.',
    input,
    class: 'exec',
    shows: { verb: 'run', target: ['command'] },
    idempotency: (args) => (isReading(args.action) ? 'pure' : 'unsafe'),
    abortGraceMs: ABORT_GRACE_MS,
    timeoutMs: Math.max(TIMEOUT_MS_MAX, deps.execTimeoutMs) + HOST_GRACE_MS,
    facts: (args, context) => commandFacts(args, context, facts, sessions),
    summarize: summarizeExec,
    async run(args, context) {
      if (args.action === 'run') return runCommand(args, context, deps, { facts, sessions });
      const id = args.sessionId ?? '';
      switch (args.action) {
        case 'list':
          return sessionActions.list(context);
        case 'poll':
          return sessionActions.poll(id, Math.min(args.timeoutMs ?? 0, POLL_WAIT_MS_MAX), context);
        case 'read':
          return sessionActions.read(id, args.offset ?? 0, context);
        case 'write':
          return sessionActions.write(id, args.data ?? '', context);
        case 'kill':
          return sessionActions.kill(id, context);
      }
    },
  });
}

async function runCommand(
  args: Args,
  context: ToolContext,
  deps: ExecDeps,
  { facts, sessions }: { readonly facts: ExecFacts; readonly sessions: ExecSessions },
): Promise<ToolResult> {
  await assertFolder(facts.folderOf(args, args.cwd ?? '.', context));
  // No await from here on until the process exists.
  const call = callOf(args);
  const run = { ...facts.confirm(args, call, context), command: call.command, pty: args.pty === true };
  if (args.background !== true) return runForeground(deps, { ...run, timeoutMs: args.timeoutMs ?? deps.execTimeoutMs }, context);
  const session = await sessions.start({ ...run, timeoutMs: args.timeoutMs ?? null }, context);
  const limit = args.timeoutMs === undefined ? '' : ` It is ended after ${formatSeconds(args.timeoutMs)}.`;
  return {
    forModel: `Started in the background as ${session.id}.${limit} Follow it with {"action":"poll","sessionId":"${session.id}"}.`,
    isAsync: true,
    ended: session.ended,
    ...broughtBy(session.running, ''),
  };
}

function isReading(action: Action): boolean {
  return action === 'list' || action === 'poll' || action === 'read';
}

/** Input for a running shell is a command as well: it is shown with the folder in which the session was started. */
function commandFacts(args: Args, context: FactContext, facts: ExecFacts, sessions: ExecSessions): CallFacts {
  // Only commands of the same conversation can be ended, so nothing is affected that this conversation did not start.
  if (isReading(args.action) || args.action === 'kill') return { class: 'read', paths: [], command: null, hosts: [] };
  if (args.action === 'run') return facts.of(args, callOf(args), context);
  const session = sessions.get(args.sessionId ?? '', context.sessionId);
  const risks = [
    `It types into ${session.command}, which was started before and keeps the rights it was started with; a shell carries out what is typed.`,
  ];
  return {
    class: 'exec',
    paths: [],
    command: { line: args.data ?? '', cwd: session.cwd },
    hosts: [],
    risks,
    input: { id: args.sessionId ?? '', command: session.command },
  };
}

function callOf(args: Args): CommandCall {
  return { command: args.command ?? '', cwd: args.cwd ?? '.' };
}

function summarizeExec(args: Args): string {
  const id = args.sessionId ?? '';
  switch (args.action) {
    case 'run':
      return `run ${shownPath(args.command ?? '')}${args.background === true ? ' in the background' : ''}`;
    case 'list':
      return 'list background commands';
    case 'poll':
    case 'read':
      return `read the output of ${id}`;
    case 'write':
      return `send ${JSON.stringify(shownPath(args.data ?? ''))} to ${id}`;
    case 'kill':
      return `end ${id}`;
  }
}

async function assertFolder(cwd: string): Promise<void> {
  const found = await stat(cwd).then(
    (entry) => entry,
    (cause: unknown) => Promise.reject(fileError('run in', cwd, cause)),
  );
  if (!found.isDirectory()) throw new AppError('tool_failed', `Could not run in ${cwd}: it is not a folder.`);
}

// The actions on a background command: list, poll, read, write, kill. Each returns a tool result.

const NOTE_BYTES_MAX = 500;
const KILL_WAIT_MS = 2000;

class ExecSessionActions {
  readonly #sessions: ExecSessions;
  readonly #pieceBytesMax: number;
  readonly #nowMs: () => number;

  constructor(sessions: ExecSessions, outputBytesMax: number, nowMs: () => number) {
    this.#sessions = sessions;
    this.#pieceBytesMax = Math.max(512, outputBytesMax - NOTE_BYTES_MAX);
    this.#nowMs = nowMs;
  }

  list(context: ToolContext): ToolResult {
    const sessions = this.#sessions.list(context.sessionId);
    if (sessions.length === 0) {
      const none = 'No background commands in this conversation.';
      return { forModel: none, forUser: `${none} For those of others: trayclaw running list` };
    }
    const lines = sessions.map((session) => {
      const age = formatSeconds((session.endedMs ?? this.#nowMs()) - session.startedMs);
      return `${session.id}  ${stateOf(session)}  ${age}  ${formatBytes(session.output.totalBytes)} of output  ${shownPath(session.command)}`;
    });
    return { forModel: lines.join('\n') };
  }

  /** Returns output since the last poll; waits up to `waitMs` if there is none. */
  async poll(id: string, waitMs: number, context: ToolContext): Promise<ToolResult> {
    const session = this.#sessions.get(id, context.sessionId);
    await waitForNews(session, waitMs, context.signal);
    const piece = this.#piece(session, session.polledBytes, context);
    session.polledBytes = piece.next;
    return piece.result;
  }

  /** Returns output from an offset on, independent of poll. */
  read(id: string, offset: number, context: ToolContext): ToolResult {
    return this.#piece(this.#sessions.get(id, context.sessionId), offset, context).result;
  }

  write(id: string, data: string, context: ToolContext): ToolResult {
    const session = this.#sessions.get(id, context.sessionId);
    if (session.end !== null || !session.running.write(data)) {
      return { forModel: `${id} takes no more input: it ${stateOf(session)}.`, isError: true };
    }
    return { forModel: `Wrote ${formatBytes(Buffer.byteLength(data))} to ${id}.` };
  }

  async kill(id: string, context: ToolContext): Promise<ToolResult> {
    const session = this.#sessions.get(id, context.sessionId);
    if (session.end !== null) return { forModel: `${id} had already ended: it ${stateOf(session)}.` };
    const killed = await this.#sessions.kill(session);
    await settlesWithin(session.running.closed, KILL_WAIT_MS);
    return { forModel: `Ended ${id} (${counted(killed, 'process', 'processes')}).` };
  }

  #piece(session: ExecSession, offset: number, context: ToolContext): { result: ToolResult; next: number } {
    const { bytes, offset: from } = session.output.read(offset, this.#pieceBytesMax);
    // A character that is still being written is left for the next piece.
    const isAll = session.end !== null && from + bytes.length === session.output.totalBytes;
    const whole = isAll ? bytes : withoutUnfinished(bytes.subarray(0, bytes.length - incompleteTailBytes(bytes)), context);
    const next = from + whole.length;
    const notes = [`${session.id} ${stateOf(session)}`];
    if (from > offset && bytes.length > 0) notes.push(`${formatBytes(from - offset)} before this were not kept`);
    if (next < session.output.totalBytes && whole.length > 0) notes.push(`more follows from offset ${next}`);
    const text = plainText(whole);
    const gap = text === '' || text.endsWith('\n') ? '' : '\n';
    const forModel = `${text}${gap}[${text === '' ? 'no new output; ' : ''}${notes.join('; ')}]`;
    return { result: { forModel, ...broughtBy(session.running, text) }, next };
  }
}

function stateOf(session: ExecSession): string {
  if (session.end === null) return 'is running';
  const end = describeEnd(session.end, false).join('');
  return [end === '' ? 'ended with exit code 0' : `ended: ${end}`, ...session.remarks].join('; ');
}

/** Leaves a secret that is still being written for the next piece, where it is complete and can be recognised. */
function withoutUnfinished(bytes: Buffer, context: ToolContext): Buffer {
  if (context.redaction === undefined) return bytes;
  const text = bytes.toString('utf8');
  return bytes.subarray(0, Buffer.byteLength(text.slice(0, context.redaction.unfinishedAt(text))));
}

async function waitForNews(session: ExecSession, waitMs: number, signal: AbortSignal): Promise<void> {
  if (waitMs === 0 || session.end !== null || session.output.totalBytes > session.polledBytes) return;
  const news = Promise.withResolvers<void>();
  const off = session.onNews.on(() => news.resolve());
  try {
    await settlesWithin(news.promise, waitMs, signal);
  } finally {
    off();
  }
}
