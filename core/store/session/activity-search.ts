// Full-text search over calls, decisions, approvals and errors. Indexed after the commit by a cursor, never in the path of a turn. Stores
// only words and filters; the text stays in the log.

import { lettersApart } from '../../base/unspaced-scripts.ts';
import { activityKindOf, type ActivityKind, type ActivityOutcome } from '../../contracts/activity-kinds.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import type { OpParsed } from '../../contracts/ops.ts';
import type { SearchHit } from '../../contracts/tools.ts';
import { LogCursor, type SqlDatabase, type Storage } from '../storage/storage.ts';
import { activityEntry, activityTypes } from './activity-text.ts';
import { excerptOf, toMatch, wordsOf } from './search-words.ts';
import type { SessionIndex } from './session-index.ts';
import type { SessionReads } from './session-reads.ts';

/** `before` is a global position: only what is below it is searched. */
export type ActivityFilter = Omit<OpParsed<'activity.search'>, 'limit'>;

export interface FoundActivity extends SearchHit {
  readonly turnId: string | null;
  readonly kind: ActivityKind;
  readonly tool: string | null;
  readonly outcome: ActivityOutcome | null;
}

const BATCH = 500;

export class ActivitySearch {
  readonly #storage: Storage;
  readonly #db: SqlDatabase;
  readonly #cursor: LogCursor;
  readonly #reads: SessionReads;
  readonly #index: SessionIndex;

  constructor(storage: Storage, reads: SessionReads, index: SessionIndex) {
    this.#storage = storage;
    this.#db = storage.db;
    this.#cursor = new LogCursor(storage.db, 'activity');
    this.#reads = reads;
    this.#index = index;
  }

  /** Indexes up to one batch of new events. Returns true if there may be more. */
  catchUp(): boolean {
    const from = this.#cursor.seq ?? 0;
    const { events, scannedTo } = this.#reads.afterOfTypes(from, BATCH, activityTypes);
    if (scannedTo === from) return false;
    this.#storage.transact(() => {
      for (const event of events) if (!this.#isCopy(event)) this.#keep(event);
      this.#cursor.moveTo(scannedTo);
    });
    return true;
  }

  /** Newest first. The caller must update the index before. */
  find(filter: ActivityFilter, limit: number): FoundActivity[] {
    const query = filter.query ?? '';
    const match = toMatch(query, this.#db, 'activity_text');
    if (query.trim() !== '' && match === '') return [];
    const { where, values } = conditionsOf(filter);
    const from = match === '' ? 'activity a' : 'activity_text t JOIN activity a ON a.seq = t.rowid';
    const order = match === '' ? 'a.seq' : 't.rowid';
    const all = match === '' ? where : ['activity_text MATCH ?', ...where];
    const rows = this.#db
      .prepare(
        `SELECT a.seq AS seq, a.session_id AS sessionId, a.turn_id AS turnId, a.at_ms AS atMs, a.type AS type, a.kind AS kind, a.tool AS tool,
           a.outcome AS outcome FROM ${from} ${all.length === 0 ? '' : `WHERE ${all.join(' AND ')}`} ORDER BY ${order} DESC LIMIT ?`,
      )
      .all(...(match === '' ? values : [match, ...values]), limit) as Omit<FoundActivity, 'excerpt'>[];
    const words = wordsOf(query);
    const texts = new Map(this.#reads.at(rows.map(({ seq }) => seq)).map((event) => [event.seq, activityEntry(event)?.text ?? '']));
    return rows.map((row) => ({ ...row, excerpt: excerptOf(texts.get(row.seq) ?? '', words) }));
  }

  #keep(event: AnyEvent): void {
    const entry = activityEntry(event);
    if (entry === null) return;
    const { seq, sessionId, turnId, atMs, type } = event;
    this.#db
      .prepare(
        'INSERT OR REPLACE INTO activity (seq, session_id, turn_id, at_ms, type, kind, tool, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      )
      .run(seq, sessionId, turnId, atMs, type, activityKindOf(type), entry.tool, entry.outcome);
    this.#db.prepare('INSERT OR REPLACE INTO activity_text (rowid, body) VALUES (?, ?)').run(seq, lettersApart(entry.text));
  }

  /** A fork copies events, but their turn and its actions belong to the original. */
  #isCopy(event: AnyEvent): boolean {
    if (event.turnId === null) return false;
    const turn = this.#index.turn(event.turnId);
    return turn !== null && turn.sessionId !== event.sessionId;
  }
}

function conditionsOf(filter: ActivityFilter): { where: string[]; values: (string | number)[] } {
  const given: readonly (readonly [sql: string, value: string | number | undefined])[] = [
    ['a.seq < ?', filter.before],
    ['a.session_id = ?', filter.sessionId],
    ['a.tool = ?', filter.tool],
    ['a.outcome = ?', filter.outcome],
    ['a.at_ms >= ?', filter.fromMs],
    ['a.at_ms <= ?', filter.toMs],
    ['a.kind IN (SELECT value FROM json_each(?))', filter.kinds === undefined ? undefined : JSON.stringify(filter.kinds)],
  ];
  const wanted = given.flatMap(([sql, value]) => (value === undefined ? [] : [[sql, value] as const]));
  return { where: wanted.map(([sql]) => sql), values: wanted.map(([, value]) => value) };
}
