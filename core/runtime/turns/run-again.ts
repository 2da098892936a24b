// Checks which turn may be repeated or branched off, and collects the data of its message that the new one needs. Reads only.

import { AppError, noTurn } from '../../contracts/errors.ts';
import type { AnyEvent, EventBodies } from '../../contracts/events.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import type { SessionLog, TurnRow } from '../../store/session/session.ts';
import { aboutOf, type InboundMessage } from './inbound.ts';
import { conversationContinued } from './taken-up.ts';

/** A person's message and its context. */
export interface HeardMessage {
  readonly sessionId: string;
  readonly agentId: string;
  /** The turn that began with it, and the turns that continued its work, oldest first. */
  readonly turnIds: readonly string[];
  readonly message: EventBodies['user.message'];
  /** Taint marks before the message: the untrusted sources of its text and files. */
  readonly marks: readonly EventBodies['taint.marked'][];
  /** The person's messages while the turn was running. */
  readonly steers: readonly EventBodies['turn.steered'][];
  /** The session position at which its turn began. */
  readonly beginsAt: number;
}

export interface RetryOptions {
  readonly model: string | null;
  /** Replaces the text of the message. */
  readonly text?: string | null;
  readonly by: string;
}

const MARKS_MAX = 4;
/** How many starts of turns are searched: direct calls may follow a conversation's last turn. */
const STARTS_LOOKED_AT = 200;

/** Fails with not_found, or with conflict for a turn that has not ended, is a direct call or is not the last of its conversation. */
export function findLast(log: SessionLog, turnId: string): HeardMessage {
  const row = log.index.turn(turnId);
  if (row !== null && (row.status === 'running' || row.status === 'waiting' || row.status === 'queued')) {
    throw new AppError('conflict', `Turn ${turnId} is still under way.`, { hint: 'Stop it first, then try again.' });
  }
  const found = findMessage(log, turnId);
  const [newest] = log.reads.slice(found.sessionId, { types: ['user.message'], limit: 1, newest: true });
  if (newest === undefined || newest.turnId !== found.turnIds[0]) throw conversationContinued(turnId);
  const last = lastOfConversation(log, found.sessionId);
  if (last !== null && last.sessionSeq > newest.sessionSeq && last.turnId !== turnId) throw conversationContinued(turnId);
  return found;
}

/** The newest start of a turn that is not a direct call, or null. */
export function lastOfConversation(log: SessionLog, sessionId: string): AnyEvent | null {
  const starts = log.reads.slice(sessionId, { types: ['turn.started'], limit: STARTS_LOOKED_AT, newest: true });
  return starts.findLast((event) => event.type === 'turn.started' && event.body.kind === 'chat') ?? null;
}

/** Fails with not_found, or with conflict for a turn that did not begin with a message. */
export function findMessage(log: SessionLog, turnId: string): HeardMessage {
  const row = log.index.turn(turnId);
  if (row === null) throw noTurn(turnId);
  const own = eventsOf(log, row);
  const earlier = startOf(own)?.body.continues?.turnIds ?? [];
  const turns = [...earlier.map((earlierId) => log.index.turn(earlierId)), row];
  const events = [...turns.slice(0, -1).flatMap((turn) => (turn === null ? [] : eventsOf(log, turn))), ...own];
  const message = events.find((event) => event.type === 'user.message');
  if (message?.type !== 'user.message') {
    throw new AppError('conflict', `Turn ${turnId} did not begin with a message.`, { hint: 'Run a direct call again as a new one.' });
  }
  const { sessionId } = row;
  const marks = log.reads
    .slice(sessionId, { types: ['taint.marked'], before: message.sessionSeq, limit: MARKS_MAX, newest: true })
    .flatMap((event) =>
      event.type === 'taint.marked' && event.turnId === message.turnId && event.body.callId === null ? [event.body] : [],
    );
  const start = startOf(events);
  return {
    sessionId,
    agentId: start?.body.agentId ?? log.index.session(sessionId)?.agentId ?? 'main',
    turnIds: [...earlier, turnId],
    message: message.body,
    marks,
    steers: events.flatMap((event) => (event.type === 'turn.steered' ? [event.body] : [])),
    beginsAt: start?.sessionSeq ?? message.sessionSeq,
  };
}

/**
 * The parts of the earlier message that a repeated one keeps: files, the untrusted sources of text and files, and the bounds of its turn.
 */
export function broughtAlong({
  message,
  marks,
}: Pick<HeardMessage, 'message' | 'marks'>): Pick<InboundMessage, 'untrusted' | 'attached' | 'bounds' | 'helper' | 'model'> {
  const sources = (attached: boolean): TaintSource[] =>
    marks.flatMap((mark) => ((mark.attached === true) === attached ? mark.sources : []));
  const attached = { files: message.attachments ?? [], sources: sources(true) };
  return { untrusted: sources(false), attached, ...aboutOf(message) };
}

function eventsOf(log: SessionLog, row: TurnRow): AnyEvent[] {
  return log.reads.turn(row.sessionId, row.turnId, row.firstSeq);
}

function startOf(events: readonly AnyEvent[]): Extract<AnyEvent, { type: 'turn.started' }> | undefined {
  return events.find((event) => event.type === 'turn.started');
}
