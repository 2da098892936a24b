// The actions on a background command: list, poll, read, write, kill. Each returns a tool result.

import { counted } from '../../base/counted.ts';
import { Deferred } from '../../base/deferred.ts';
import type { ToolContext, ToolResult } from '../../contracts/tools.ts';
import { plainText } from './command-output.ts';
import { broughtBy, describeEnd } from './exec-foreground.ts';
import type { ExecSession, ExecSessions } from './exec-sessions.ts';
import { formatBytes } from './bound-text.ts';
import { formatSeconds } from './hosted-result.ts';
import { shownPath } from './path-argument.ts';
import { settlesWithin } from './settles-within.ts';
import { incompleteTailBytes } from './utf8-cut.ts';

const NOTE_BYTES_MAX = 500;
const KILL_WAIT_MS = 2000;

export class ExecSessionActions {
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
    if (session.end !== null) return { forModel: `${id} was over already: it ${stateOf(session)}.` };
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

export function stateOf(session: ExecSession): string {
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
  const news = new Deferred<void>();
  const off = session.onNews.on(() => news.resolve());
  try {
    await settlesWithin(news.promise, waitMs, signal);
  } finally {
    off();
  }
}
