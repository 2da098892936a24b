// A cache of sessions in use: the transcript so far, so that a turn never rereads its history. Bounded; the least recently used session is
// evicted.

import { NewestMap } from '../../base/newest-map.ts';
import type { AnyEvent, EventType } from '../../contracts/events.ts';
import type { ContextPacker, Transcript } from '../../mind/context/context.ts';
import type { SessionLog } from '../../store/session/session.ts';

/** The number of newest events that are read to continue a session. Older ones stay in the log. */
const RESTORE_EVENTS_MAX = 4_000;

export const transcriptTypes: readonly EventType[] = [
  'user.message',
  'turn.started',
  'turn.steered',
  'turn.finished',
  'turn.superseded',
  'reflection.recorded',
  'model.finished',
  'tool.finished',
  'tool.rejected',
  'policy.decided',
  'approval.decided',
  'summary.written',
];

const SESSIONS_KEPT = 32;

export interface TranscriptSource {
  readonly log: SessionLog;
  readonly packer: ContextPacker;
  readonly continuity: { lastSummary(sessionId: string, before?: number): number | null };
}

export class HotSessions {
  readonly #source: TranscriptSource;
  readonly #sessions = new NewestMap<string, Transcript>(SESSIONS_KEPT);

  constructor(source: TranscriptSource) {
    this.#source = source;
  }

  /** The session's transcript up to its newest event. */
  transcript(sessionId: string): Transcript {
    const hot = this.#sessions.get(sessionId);
    if (hot !== undefined) {
      this.#sessions.delete(sessionId);
      this.#sessions.set(sessionId, hot);
      return hot;
    }
    return this.#keep(sessionId, loadTranscript(this.#source, sessionId));
  }

  /** Updates the transcript even while the turn is waiting. */
  absorb(sessionId: string, events: readonly AnyEvent[]): void {
    const transcript = this.transcript(sessionId);
    for (const event of events) transcript.apply(event);
  }

  /** Updates the session only if it is cached; reads nothing otherwise. */
  tell(sessionId: string, events: readonly AnyEvent[]): void {
    const transcript = this.#sessions.get(sessionId);
    if (transcript !== undefined) for (const event of events) transcript.apply(event);
  }

  /** The size of a cached conversation that no summary covers; null if it is not cached. */
  unsummed(sessionId: string): { readonly messages: number; readonly tokens: number } | null {
    return this.#sessions.get(sessionId)?.unsummed ?? null;
  }

  /** All messages without a summary; read from the log if packs have dropped some. Null for an unknown session. */
  whole(sessionId: string): Transcript | null {
    const hot = this.#sessions.get(sessionId);
    if (hot?.isWhole === true) return hot;
    return this.#source.log.index.session(sessionId) === null ? null : loadTranscript(this.#source, sessionId);
  }

  /** For a new session without events, so nothing is read. */
  begin(sessionId: string): void {
    this.#keep(sessionId, this.#source.packer.createTranscript());
  }

  #keep(sessionId: string, transcript: Transcript): Transcript {
    this.#sessions.set(sessionId, transcript);
    return transcript;
  }

  /** Evicts a session. Its next use rereads the log. */
  forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }
}

/**
 * Loads a transcript from the log: the newest summary and the newest events, starting at the beginning of a turn. `before` ends it earlier,
 * to show a past pack.
 */
export function loadTranscript({ log, packer, continuity }: TranscriptSource, sessionId: string, before?: number): Transcript {
  const transcript = packer.createTranscript();
  const summary = continuity.lastSummary(sessionId, before);
  for (const event of summary === null ? [] : log.reads.at([summary])) transcript.apply(event);
  const events = log.reads.slice(sessionId, {
    types: transcriptTypes,
    limit: RESTORE_EVENTS_MAX,
    newest: true,
    ...(before === undefined ? {} : { before }),
  });
  const complete = events.length < RESTORE_EVENTS_MAX;
  const start = complete
    ? 0
    : Math.max(
        0,
        events.findIndex((event) => event.type === 'user.message'),
      );
  for (const event of events.slice(start)) transcript.apply(event);
  return transcript;
}
