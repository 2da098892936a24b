// Full-text search over what people, models and tools said. Indexed behind the log by a cursor, never on the path of a turn.

import type { EventType } from '../../contracts/events.ts';
import type { SearchHit } from '../../contracts/tools.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import type { SqlDatabase, Storage } from '../storage/storage.ts';
import type { SessionReads } from './session-reads.ts';

const searched: readonly EventType[] = ['user.message', 'assistant.message', 'tool.finished', 'session.created', 'session.renamed'];
const BATCH = 500;
const TEXT_MAX = 8_000;
const CURSOR = 'session_text';

export class SessionSearch {
  readonly #storage: Storage;
  readonly #db: SqlDatabase;
  readonly #reads: SessionReads;

  constructor(storage: Storage, reads: SessionReads) {
    this.#storage = storage;
    this.#db = storage.db;
    this.#reads = reads;
  }

  /** Indexes up to one batch of what is new. Returns true when there may be more. */
  catchUp(): boolean {
    const from = this.#cursor();
    const { events, scannedTo } = this.#reads.afterOfTypes(from, BATCH, searched);
    if (scannedTo === from) return false;
    this.#storage.transact(() => {
      const insert = this.#db.prepare('INSERT OR REPLACE INTO session_text (rowid, body, session_id) VALUES (?, ?, ?)');
      for (const event of events) {
        const text = searchText(event);
        if (text !== '') insert.run(event.seq, text.slice(0, TEXT_MAX), event.sessionId);
      }
      this.#db
        .prepare('INSERT INTO projection_cursors (name, seq) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seq = excluded.seq')
        .run(CURSOR, scannedTo);
    });
    return true;
  }

  /** Words are all wanted; the last one also as a beginning. Best match first; an empty query finds nothing. */
  find(query: string, limit: number): SearchHit[] {
    while (this.catchUp());
    const match = toMatch(query);
    if (match === '') return [];
    const rows = this.#db
      .prepare(
        `SELECT e.session_id AS sessionId, e.seq AS seq, e.at_ms AS atMs, e.type AS type,
           snippet(session_text, 0, '', '', ' … ', 24) AS excerpt
         FROM session_text JOIN events e ON e.seq = session_text.rowid
         WHERE session_text MATCH ? ORDER BY rank LIMIT ?`,
      )
      .all(match, limit);
    return rows as SearchHit[];
  }

  #cursor(): number {
    const row = this.#db.prepare('SELECT seq FROM projection_cursors WHERE name = ?').get(CURSOR) as { seq: number } | undefined;
    return row?.seq ?? 0;
  }
}

function searchText(event: AnyEvent): string {
  switch (event.type) {
    case 'user.message':
    case 'assistant.message':
      return event.body.text;
    case 'tool.finished':
      return event.body.silent ? '' : event.body.forModel;
    case 'session.created':
    case 'session.renamed':
      return event.body.title;
    default:
      return '';
  }
}

/** Each word becomes a quoted string, so nothing in a query is FTS5 syntax. */
function toMatch(query: string): string {
  const words = query.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words
    .slice(0, 16)
    .map((word, index) => `"${word}"${index === words.length - 1 ? '*' : ''}`)
    .join(' ');
}
