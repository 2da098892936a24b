// The session log: append-only, hash-chained per session, the single source of truth. Owns the events table and the rows kept in step with
// it. Does not decide what events mean for a turn.

import { AppError, noSession } from '../../contracts/errors.ts';
import { NewestMap } from '../../base/newest-map.ts';
import { Emitter } from '../../base/emitter.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { AnyDraft, AnyEvent, EventType } from '../../contracts/events.ts';
import type { SqlStatement, Storage } from '../storage/storage.ts';
import { ActivitySearch } from './activity-search.ts';
import { CopiedPlaces } from './copied-places.ts';
import { genesisHash, hashEvent } from './event-hash.ts';
import type { LogHead } from './log-head.ts';
import { SessionReads } from './session-reads.ts';
import { SessionIndex, sessionPermits } from './session-index.ts';
import { SessionSearch } from './session-search.ts';
import type { PermittingRows } from './permitting-rows.ts';

export { sessionMigrations } from './session-schema.ts';
export { SessionReads, type SliceQuery } from './session-reads.ts';
export { SessionIndex, type ListedSession, type OpenCall, type SessionPlace, type SessionRow, type TurnRow } from './session-index.ts';
export { SessionSearch } from './session-search.ts';
export { type ActivityFilter, type FoundActivity } from './activity-search.ts';
export { acceptGaps, openGaps } from './log-gaps.ts';
export { LogHead, type LogHeadDeps } from './log-head.ts';
export { emptySearch, searchFault } from './rebuild-search.ts';
export { unexplainedRows, type PermittingRows } from './permitting-rows.ts';
export { verifyLog, verifyTail, type AuditReport } from './session-verify.ts';
export { exportJsonl, exportMarkdown } from './session-export.ts';
export { exportTurn } from './turn-export.ts';

/** Rows that another owner keeps in step with the log. Called for each event, inside the transaction of the append. */
export interface EventProjection {
  apply(event: AnyEvent): void;
  /** Called instead for an event that a fork copies. Without it, such events are skipped. */
  applyCopied?(event: AnyEvent): void;
  /** Those of the rows that permit something. The audit looks for each in the log. */
  readonly permits?: PermittingRows | readonly PermittingRows[];
}

export interface SessionLogDeps {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Redacts every string of a body before it is stored. Returns the identical body if there is nothing to redact. */
  readonly scrub?: <T>(body: T) => T;
  /** Notified of the new end of the log after each commit. */
  readonly head?: Pick<LogHead, 'note' | 'reached'>;
  readonly projections?: readonly EventProjection[];
}

interface Head {
  sessionSeq: number;
  hashHex: string;
}

/** The maximum number of events inserted by one statement. */
const ROWS_AT_ONCE = 8;
const HEADS_KEPT = 512;
/** A multiple of the rows of one statement. Each batch updates the rows of its session and turns once. */
const COPIED_AT_ONCE = 128;

export class SessionLog {
  readonly reads: SessionReads;
  readonly index: SessionIndex;
  readonly search: SessionSearch;
  readonly activity: ActivitySearch;
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #scrub: (<T>(body: T) => T) | undefined;
  readonly #projections: readonly EventProjection[];
  readonly #heads = new NewestMap<string, Head>(HEADS_KEPT);
  readonly #committed: Emitter<readonly AnyEvent[]>;
  /** By number of rows. */
  readonly #inserts = new Map<number, SqlStatement>();
  readonly #putHead: SqlStatement;
  #seq: number;
  #hashHex = genesisHash;
  readonly #headFile: SessionLogDeps['head'];
  #pending: AnyEvent[] = [];
  /** True while the transaction of `transactAhead` runs, whose wait for the disk follows later. */
  #isAhead = false;

  constructor(deps: SessionLogDeps) {
    const { db } = deps.storage;
    this.#storage = deps.storage;
    this.#clock = deps.clock;
    this.#scrub = deps.scrub;
    this.#projections = deps.projections ?? [];
    this.#headFile = deps.head;
    this.reads = new SessionReads(db, deps.clock, deps.logger);
    this.index = new SessionIndex(db);
    this.search = new SessionSearch(deps.storage, this.reads);
    this.activity = new ActivitySearch(deps.storage, this.reads, this.index);
    this.#committed = new Emitter((cause) => {
      deps.logger.log('error', 'a listener of committed events failed', { cause: String(cause) });
    });
    this.#putHead = db.prepare(
      'INSERT INTO heads (session_id, session_seq, hash) VALUES (?, ?, unhex(?)) ON CONFLICT (session_id) DO UPDATE SET session_seq = excluded.session_seq, hash = excluded.hash',
    );
    this.#seq = this.reads.lastSeq();
  }

  get lastSeq(): number {
    return this.#seq;
  }

  /** Returns the position that the next event of the session will get. */
  nextSessionSeq(sessionId: string): number {
    return this.#head(sessionId).sessionSeq + 1;
  }

  /** The rows of all owners that permit something. */
  get permits(): PermittingRows[] {
    return [...sessionPermits, ...this.#projections.flatMap(({ permits }) => permits ?? [])];
  }

  get storage(): Storage {
    return this.#storage;
  }

  /** Calls the listener with the events of each commit, in order, after the commit. Returns a function that ends the subscription. */
  onCommitted(listener: (events: readonly AnyEvent[]) => void): () => void {
    return this.#committed.on(listener);
  }

  /** Resolves after the next commit, or when the signal aborts. */
  nextCommit(signal: AbortSignal): Promise<void> {
    return this.#committed.next(signal);
  }

  /** Runs several appends and changes of other tables in one transaction. With `barrier`, the commit waits for the disk. */
  transact<T>(work: () => T, barrier = false): T {
    if (this.#storage.inTransaction) return this.#storage.transact(work, barrier);
    return this.#transact(() => this.#storage.transact(work, barrier));
  }

  #transact<T>(transaction: () => T): T {
    try {
      return transaction();
    } catch (cause) {
      // Positions assigned in the failed transaction are void and are read again.
      this.#pending = [];
      this.#heads.clear();
      this.index.forget();
      this.#seq = this.reads.lastSeq();
      throw cause;
    }
  }

  /** Like `transact` with a barrier, but the caller waits for the disk: before `onDisk` resolves, no promise and no effect may be made. */
  transactAhead<T>(work: () => T): { readonly value: T; readonly onDisk: Promise<void> } {
    this.#isAhead = true;
    try {
      const { value, onDisk } = this.#transact(() => this.#storage.transactAhead(work));
      const place = { seq: this.#seq, hash: this.#hashHex };
      return { value, onDisk: onDisk.then(() => this.#headFile?.reached(place)) };
    } finally {
      this.#isAhead = false;
    }
  }

  /** Appends to one session in order, all or nothing. Returns the events with their positions. */
  append(sessionId: string, drafts: readonly AnyDraft[], barrier = false): readonly AnyEvent[] {
    if (drafts.length === 0) return [];
    return this.transact(() => this.#appendInside(sessionId, drafts, false), barrier);
  }

  #appendInside(sessionId: string, drafts: readonly AnyDraft[], copied: boolean): AnyEvent[] {
    const head = drafts[0]?.type === 'session.created' ? this.#keepHead(sessionId, null) : this.#head(sessionId);
    const events: AnyEvent[] = [];
    for (let from = 0; from < drafts.length; from += ROWS_AT_ONCE) {
      const rows: unknown[] = [];
      const some = drafts.slice(from, from + ROWS_AT_ONCE);
      for (const draft of some) events.push(this.#place(sessionId, { head, draft }, rows));
      this.#insert(some.length).run(rows);
    }
    this.#project(sessionId, events, copied);
    if (this.#storage.inBarrier || this.#isAhead || drafts.some((draft) => draft.type === 'turn.finished')) {
      this.#putHead.run(sessionId, head.sessionSeq, head.hashHex);
    }
    if (this.#pending.length === 0) {
      const isDurable = this.#storage.inBarrier;
      this.#storage.afterCommit(() => {
        this.#headFile?.note({ seq: this.#seq, hash: this.#hashHex }, isDurable);
        this.#publish();
      });
    }
    for (const event of events) this.#pending.push(event);
    return events;
  }

  #insert(count: number): SqlStatement {
    const known = this.#inserts.get(count);
    if (known !== undefined) return known;
    const rows = Array.from({ length: count }, () => '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, unhex(?))').join(', ');
    const columns = 'seq, session_id, session_seq, turn_id, step, phase, type, v, at_ms, body, hash';
    const made = this.#storage.db.prepare(`INSERT INTO events (${columns}) VALUES ${rows}`);
    this.#inserts.set(count, made);
    return made;
  }

  /** Adds the event to the chain, and its values to the rows that are inserted together. */
  #place(sessionId: string, { head, draft }: { readonly head: Head; readonly draft: AnyDraft }, rows: unknown[]): AnyEvent {
    const body = this.#scrub === undefined || withoutFreeText.has(draft.type) ? draft.body : this.#scrub(draft.body);
    const stored = JSON.stringify(body);
    const event = {
      seq: this.#seq + 1,
      sessionId,
      sessionSeq: head.sessionSeq + 1,
      turnId: draft.turnId ?? null,
      step: draft.step ?? 0,
      phase: draft.phase ?? null,
      type: draft.type,
      v: 1,
      atMs: draft.atMs ?? this.#clock.nowMs(),
      body,
    } as AnyEvent;
    const hashHex = hashEvent(head.hashHex, { ...event, bodyText: stored });
    const { seq, sessionSeq, turnId, step, phase, type, v, atMs } = event;
    rows.push(seq, sessionId, sessionSeq, turnId, step, phase, type, v, atMs, stored, hashHex);
    this.#seq = event.seq;
    this.#hashHex = hashHex;
    head.sessionSeq = event.sessionSeq;
    head.hashHex = hashHex;
    return event;
  }

  #project(sessionId: string, events: readonly AnyEvent[], copied: boolean): void {
    this.index.apply(sessionId, events, copied);
    for (const projection of this.#projections) {
      for (const event of events) {
        if (copied) projection.applyCopied?.(event);
        else projection.apply(event);
      }
    }
  }

  #head(sessionId: string): Head {
    const known = this.#heads.get(sessionId);
    if (known !== undefined) return known;
    return this.#keepHead(sessionId, this.reads.head(sessionId));
  }

  /** `row` is null for a session without events. */
  #keepHead(sessionId: string, row: { sessionSeq: number; hashHex: string } | null): Head {
    const head: Head = row === null ? { sessionSeq: 0, hashHex: genesisHash } : { sessionSeq: row.sessionSeq, hashHex: row.hashHex };
    this.#heads.set(sessionId, head);
    return head;
  }

  #publish(): void {
    const events = this.#pending;
    this.#pending = [];
    if (this.#committed.size > 0) this.#committed.emit(events);
  }

  /**
   * Creates a session with a copy of another session's events up to and including `atSessionSeq`, with a new hash chain. The cost is
   * proportional to the number of copied events. Fails with not_found.
   */
  fork(
    from: { sessionId: string; atSessionSeq: number; /** Leaves out every turn that had not ended by then. */ endedOnly?: boolean },
    to: { sessionId: string; title: string; agentId: string; channel: string },
  ): void {
    const last = this.reads.head(from.sessionId);
    if (last === null || from.atSessionSeq > last.sessionSeq) {
      throw new AppError('not_found', `Session ${from.sessionId} has no event ${from.atSessionSeq}.`);
    }
    const ended = from.endedOnly === true ? this.reads.endedTurns(from.sessionId, from.atSessionSeq) : null;
    const configured = this.#configuredDraft(from.sessionId, to.agentId);
    const workspace = this.index.session(from.sessionId)?.workspace ?? null;
    this.transact(() => {
      this.append(to.sessionId, [
        {
          type: 'session.created',
          body: {
            title: to.title,
            agentId: to.agentId,
            channel: to.channel,
            forkedFrom: { sessionId: from.sessionId, sessionSeq: from.atSessionSeq },
            ...(workspace === null ? {} : { workspace }),
          },
        },
        ...configured,
      ]);
      this.#copy(from, to.sessionId, ended);
    }, true);
    this.#heads.delete(to.sessionId);
  }

  #copy(from: { sessionId: string; atSessionSeq: number }, to: string, ended: ReadonlySet<string> | null): void {
    const places = new CopiedPlaces();
    let place = this.#head(to).sessionSeq;
    let drafts: AnyDraft[] = [];
    for (const event of this.reads.iterateSession(from.sessionId, from.atSessionSeq)) {
      if (notCopied.has(event.type) || (ended !== null && event.turnId !== null && !ended.has(event.turnId))) continue;
      drafts.push(places.moved(draftOf(event)));
      places.note(event.sessionSeq, ++place);
      if (drafts.length < COPIED_AT_ONCE) continue;
      this.#appendInside(to, drafts, true);
      drafts = [];
    }
    if (drafts.length > 0) this.#appendInside(to, drafts, true);
  }

  /** A fork keeps the model of the original. */
  #configuredDraft(sessionId: string, agentId: string): AnyDraft[] {
    const model = this.index.session(sessionId)?.model ?? null;
    return model === null ? [] : [{ type: 'session.configured', body: { agentId, model, by: 'fork' } }];
  }

  /** Permanently removes a session's events. The system session records the end of its chain. Returns the number of removed events. */
  remove(sessionId: string, systemId: string): number {
    const head = this.reads.head(sessionId);
    if (head === null) throw noSession(sessionId);
    return this.transact(() => {
      const removed = this.index.removeSession(sessionId);
      this.append(systemId, [{ type: 'session.deleted', body: { sessionId, headSeq: head.sessionSeq, headHash: head.hashHex } }]);
      this.#heads.delete(sessionId);
      return removed;
    }, true);
  }
}

/** These bodies contain only ids, numbers and text of the program, so they cannot contain a secret. */
const withoutFreeText: ReadonlySet<EventType> = new Set<EventType>([
  'brain.decided',
  'model.requested',
  'observation.recorded',
  'turn.waiting',
  'grant.spent',
  'tool.spawned',
]);

function draftOf(event: AnyEvent): AnyDraft {
  return { type: event.type, turnId: event.turnId, step: event.step, phase: event.phase, atMs: event.atMs, body: event.body } as AnyDraft;
}

/** A fork has its own start, and none of the original's approvals and stops. */
const notCopied: ReadonlySet<EventType> = new Set<EventType>([
  'session.created',
  'session.renamed',
  'session.archived',
  'session.pinned',
  'session.seen',
  'session.configured',
  // A summary in progress is written for the original.
  'summary.started',
  'summary.failed',
]);
