// Gathers the facts about a failed turn and judges whether it may be retried automatically. Reads only.

import { isUnrecorded } from '../../contracts/continuable.ts';
import { isHere } from '../../contracts/doors.ts';
import type { ErrorBody, ErrorCode } from '../../contracts/errors.ts';
import type { AnyEvent, EventBodies, EventOf } from '../../contracts/events.ts';
import type { FailureNature } from '../../contracts/features/dead-letters.ts';
import type { SessionLog } from '../../store/session/session.ts';

export interface Failure extends Pick<EventBodies['dead_letter.captured'], 'turnId' | 'sessionId' | 'channel' | 'reason' | 'nature'> {
  /** The turns that it continued, and the turn whose message it repeated. */
  readonly earlier: readonly string[];
  /** Why the turn must not be retried automatically; null if it may be. */
  readonly left: string | null;
}

const EVENTS_LOOKED_AT = 5_000;
const unexplained: ErrorBody = { code: 'internal', message: 'The turn failed and said nothing of why.' };

/** Null if the turn is no longer in the log. */
export function judgeFailure(log: SessionLog, ended: EventOf<'turn.finished'>): Failure | null {
  const { turnId, sessionId } = ended;
  const row = turnId === null ? null : log.index.turn(turnId);
  if (turnId === null || row === null) return null;
  const events = log.reads.turnPage({ ...row, turnId }, 0, EVENTS_LOOKED_AT);
  const started = startOf(events);
  const reason = ended.body.error ?? unexplained;
  const nature = natureOf(reason.code);
  const about = { turnId, sessionId, channel: channelOf(log, sessionId, events), reason, nature };
  const earlier = started === null ? [] : earlierOf(started);
  const done = [...events, ...earlier.flatMap((id) => eventsOf(log, id))];
  return { ...about, earlier, left: whyLeft(about, started, done) };
}

/** The turns that this turn continued or repeated. Empty if its start cannot be found. */
export function earlierTurns(log: SessionLog, turnId: string): readonly string[] {
  const row = log.index.turn(turnId);
  if (row === null) return [];
  const started = startOf(log.reads.turnPage({ ...row, turnId }, 0, 20));
  return started === null ? [] : earlierOf(started);
}

function earlierOf({ continues, retries }: EventOf<'turn.started'>['body']): string[] {
  return [...(continues?.turnIds ?? []), ...(retries === undefined ? [] : [retries])];
}

function channelOf(log: SessionLog, sessionId: string, events: readonly AnyEvent[]): string {
  const message = events.find((event) => event.type === 'user.message');
  return message?.body.channel ?? startOf(events)?.channel ?? log.index.session(sessionId)?.channel ?? 'unknown';
}

function whyLeft(
  { channel, nature, reason }: Pick<Failure, 'channel' | 'nature' | 'reason'>,
  started: EventOf<'turn.started'>['body'] | null,
  done: readonly AnyEvent[],
): string | null {
  if (isUnrecorded(reason.code))
    return 'It could not be recorded. A retry continues where it stopped, once the data folder has room for it.';
  if (nature === 'permanent') return 'A retry would fail the same way until something is changed.';
  if (started === null || started.kind === 'tool') return 'It was a direct call, not a conversation.';
  if (isHere(channel) && (started.bounds?.unattended ?? null) === null) return 'You were there when it failed and can retry it.';
  const unsafe = done.flatMap((event) => (event.type === 'tool.requested' && event.body.idempotency === 'unsafe' ? [event.body.tool] : []));
  if (unsafe.length === 0) return null;
  return `It had already done something that must not happen twice: ${[...new Set(unsafe)].slice(0, 5).join(', ')}.`;
}

function eventsOf(log: SessionLog, turnId: string): AnyEvent[] {
  const row = log.index.turn(turnId);
  return row === null ? [] : log.reads.turnPage({ ...row, turnId }, 0, EVENTS_LOOKED_AT);
}

function startOf(events: readonly AnyEvent[]): EventOf<'turn.started'>['body'] | null {
  return events.find((event) => event.type === 'turn.started')?.body ?? null;
}

/** Failures of a server, the network or this machine that may pass without any change. Every other error code needs a person. */
const passing: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'fetch_failed',
  'model_rate_limited',
  'model_unavailable',
  'model_timeout',
  'model_cut_off',
  'model_bad_reply',
  'queue_full',
  'rate_limited',
  'store_locked',
]);

function natureOf(code: ErrorCode): FailureNature {
  return passing.has(code) ? 'transient' : 'permanent';
}

interface Backoff {
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
}

/**
 * The back-off before a retry. It doubles with each failure, and half of it is random, so that turns that failed together are not retried
 * together.
 */
export function waitBefore(attempt: number, { firstWaitMs, longestWaitMs }: Backoff, random: () => number): number {
  const ceilingMs = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round(ceilingMs / 2 + (ceilingMs / 2) * random());
}
