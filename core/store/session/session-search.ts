// Full-text search over messages of people, models and tools. Indexed after the commit by a cursor, never in the path of a turn.

import { hasUnspaced, lettersApart } from '../../base/unspaced-scripts.ts';
import type { EventType } from '../../contracts/events.ts';
import type { SearchHit } from '../../contracts/tools.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import { LogCursor, type SqlDatabase, type Storage } from '../storage/storage.ts';
import { excerptOf, RANKED_MAX, toMatch, wordsOf } from './search-words.ts';
import type { SessionReads } from './session-reads.ts';

const searched: readonly EventType[] = [
  'user.message',
  'assistant.message',
  'model.failed',
  'tool.finished',
  'session.created',
  'session.renamed',
];
const BATCH = 500;
const TEXT_MAX = 8_000;
const TITLE_WEIGHT = 3;
const titleTypes: ReadonlySet<string> = new Set<EventType>(['session.created', 'session.renamed']);

export interface SearchScope {
  readonly sessionId?: string;
  /** If true, only the best hit of each session. */
  readonly eachSession?: boolean;
}

export class SessionSearch {
  readonly #storage: Storage;
  readonly #db: SqlDatabase;
  readonly #cursor: LogCursor;
  readonly #reads: SessionReads;

  constructor(storage: Storage, reads: SessionReads) {
    this.#storage = storage;
    this.#db = storage.db;
    this.#cursor = new LogCursor(storage.db, 'session_text');
    this.#reads = reads;
  }

  /** Indexes up to one batch of new events. Returns true if there may be more. */
  catchUp(): boolean {
    const from = this.#cursor.seq ?? 0;
    const { events, scannedTo } = this.#reads.afterOfTypes(from, BATCH, searched);
    if (scannedTo === from) return false;
    this.#storage.transact(() => {
      const insert = this.#db.prepare('INSERT OR REPLACE INTO session_text (rowid, body, session_id) VALUES (?, ?, ?)');
      for (const event of events) {
        const text = searchText(event);
        if (text !== '') insert.run(event.seq, lettersApart(text.slice(0, TEXT_MAX)), event.sessionId);
      }
      this.#cursor.moveTo(scannedTo);
    });
    return true;
  }

  /**
   * All words must match; the last may be a prefix. Best match first, titles before messages. An empty query finds nothing, and replaced
   * titles do not match.
   */
  find(query: string, limit: number, about: SearchScope = {}): SearchHit[] {
    while (this.catchUp());
    const match = toMatch(query, this.#db, 'session_text');
    if (match === '') return [];
    const within = about.sessionId === undefined ? '' : 'AND session_id = ?';
    const best = this.#db
      .prepare(
        `SELECT e.seq AS seq, e.session_id AS sessionId, e.at_ms AS atMs, e.type AS type FROM (
           SELECT rowid AS seq, rank FROM session_text WHERE session_text MATCH ? ${within} ORDER BY rowid DESC LIMIT ${RANKED_MAX}
         ) m JOIN events e ON e.seq = m.seq
         ORDER BY CASE WHEN e.type IN ('session.created', 'session.renamed') THEN m.rank * ${TITLE_WEIGHT} ELSE m.rank END`,
      )
      .all(...(about.sessionId === undefined ? [match] : [match, about.sessionId])) as Omit<SearchHit, 'excerpt'>[];
    const text = this.#db.prepare('SELECT body FROM session_text WHERE rowid = ?').pluck();
    const title = this.#db.prepare('SELECT title FROM sessions WHERE session_id = ?').pluck();
    const words = wordsOf(query);
    const hits: SearchHit[] = [];
    const shown = new Set<string>();
    for (const hit of best) {
      if (hits.length >= limit) break;
      if (about.eachSession === true && shown.has(hit.sessionId)) continue;
      const body = this.#asWritten(hit.seq, text.get(hit.seq) as string);
      if (titleTypes.has(hit.type) && title.get(hit.sessionId) !== body) continue;
      shown.add(hit.sessionId);
      hits.push({ ...hit, excerpt: excerptOf(body, words) });
    }
    return hits;
  }

  /** In a text of a script without spaces, the index has spaces between the letters. */
  #asWritten(seq: number, indexed: string): string {
    const [event] = hasUnspaced(indexed) ? this.#reads.at([seq]) : [];
    return event === undefined ? indexed : searchText(event).slice(0, TEXT_MAX);
  }
}

function searchText(event: AnyEvent): string {
  switch (event.type) {
    case 'user.message':
    case 'assistant.message':
      return event.body.text;
    case 'model.failed':
      // A text that another attempt replaces is not shown in the conversation.
      return event.body.again === true || event.body.failover !== undefined ? '' : event.body.partialText;
    case 'tool.finished':
      return event.body.silent ? '' : event.body.forModel;
    case 'session.created':
    case 'session.renamed':
      return event.body.title;
    default:
      return '';
  }
}
