// Collects the changes that the events of one append make to the rows of their session and its turns, so that each row is written once.
// Contains no SQL.

import type { AnyEvent, EventOf, TurnStatus } from '../../contracts/events.ts';

export interface SessionChange {
  /** Set if the session is created. */
  created: EventOf<'session.created'> | null;
  title: string | null;
  archived: boolean | null;
  lastText: string | null;
  lastTurnId: string | null;
  /** Null if there was no message and no turn of a direct call or a continuation started. */
  updatedAtMs: number | null;
  pinned: boolean | null;
  configured: EventOf<'session.configured'>['body'] | null;
  /** The position of the person's last message, which implies that everything before was read. Null if there is none. */
  readSeq: number | null;
  /** The number of turns with news after that message. */
  news: number;
  /** The position up to which a person has seen the session. */
  seenSeq: number | null;
}

interface TurnChange {
  status: TurnStatus | 'queued';
  /** The first event of a turn; null for a turn that began in an earlier append. */
  readonly first: AnyEvent | null;
}

const LAST_TEXT_MAX = 200;

export class RowChanges {
  session: SessionChange | null = null;
  readonly turns = new Map<string, TurnChange>();

  /** Adds an event copied into a fork. Its turns still belong to the original. */
  addCopied(event: AnyEvent): void {
    if (event.type === 'user.message' || event.type === 'assistant.message') this.#say(event, null);
  }

  add(event: AnyEvent): void {
    switch (event.type) {
      case 'session.created':
        this.#session.created ??= event;
        return;
      case 'session.renamed':
        this.#session.title = event.body.title;
        return;
      case 'session.archived':
        this.#session.archived = event.body.archived;
        return;
      case 'session.pinned':
        this.#session.pinned = event.body.pinned;
        return;
      case 'session.configured':
        this.#session.configured = { ...this.#session.configured, ...event.body };
        return;
      case 'session.seen':
        this.#session.seenSeq = Math.max(this.#session.seenSeq ?? 0, event.body.seq);
        return;
      case 'user.message':
        this.#say(event, event.turnId);
        this.#begin(event, 'queued');
        this.#session.readSeq = event.seq;
        this.#session.news = 0;
        return;
      case 'assistant.message':
        this.#say(event, null);
        return;
      case 'turn.started':
        this.#start(event);
        return;
      case 'turn.waiting':
        this.#move(event, 'waiting');
        this.#tell(event);
        return;
      case 'turn.resumed':
        this.#move(event, 'running');
        return;
      case 'turn.finished':
        this.#move(event, event.body.status);
        this.#tell(event);
        return;
      default:
        return;
    }
  }

  get #session(): SessionChange {
    this.session ??= {
      created: null,
      title: null,
      archived: null,
      lastText: null,
      lastTurnId: null,
      updatedAtMs: null,
      pinned: null,
      configured: null,
      readSeq: null,
      news: 0,
      seenSeq: null,
    };
    return this.session;
  }

  #say(event: EventOf<'user.message'> | EventOf<'assistant.message'>, turnId: string | null): void {
    const session = this.#session;
    session.lastText = event.body.text.slice(0, LAST_TEXT_MAX);
    session.lastTurnId = turnId ?? session.lastTurnId;
    session.updatedAtMs = event.atMs;
  }

  #start(event: EventOf<'turn.started'>): void {
    this.#begin(event, 'running');
    // A turn of a message was set by the message. A direct call and a turn that continues another have no message.
    if (event.turnId === null || (event.body.kind !== 'tool' && event.body.continues === undefined)) return;
    this.#session.lastTurnId = event.turnId;
    this.#session.updatedAtMs = event.atMs;
  }

  #tell(event: AnyEvent): void {
    if (event.turnId !== null) this.#session.news += 1;
  }

  #begin(event: AnyEvent, status: 'queued' | 'running'): void {
    if (event.turnId === null) return;
    const known = this.turns.get(event.turnId);
    this.turns.set(event.turnId, { status, first: known?.first ?? event });
  }

  #move(event: AnyEvent, status: TurnStatus): void {
    if (event.turnId === null) return;
    const known = this.turns.get(event.turnId);
    this.turns.set(event.turnId, { status, first: known?.first ?? null });
  }
}
