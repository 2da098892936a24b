// Full-text search over what people, models and tools said. Indexed behind the log by a cursor, never on the path of a turn.

import type { EventType } from '../../contracts/events.ts';
import type { SearchHit } from '../../contracts/tools.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import type { SqlDatabase, Storage } from '../storage/storage.ts';
import type { SessionReads } from './session-reads.ts';

const searched: readonly EventType[] = ['user.message', 'assistant.message', 'tool.finished', 'session.created', 'session.renamed'];
const BATCH = 500;
const TEXT_MAX = 8_000;
/** Of a word that is everywhere only the newest places are weighed against each other: the cost must not grow with the log. */
const RANKED_MAX = 2_000;
const CURSOR = 'session_text';
const WORDS_MAX = 16;
const EXCERPT_BEFORE = 60;
const EXCERPT_AFTER = 140;

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
    const best = this.#db
      .prepare(
        `SELECT seq FROM (SELECT rowid AS seq, rank FROM session_text WHERE session_text MATCH ? ORDER BY rowid DESC LIMIT ${RANKED_MAX}) ORDER BY rank LIMIT ?`,
      )
      .all(match, limit) as { seq: number }[];
    const show = this.#db.prepare(
      `SELECT e.session_id AS sessionId, e.seq AS seq, e.at_ms AS atMs, e.type AS type, t.body AS text
       FROM session_text t JOIN events e ON e.seq = t.rowid WHERE t.rowid = ?`,
    );
    const words = wordsOf(query);
    return best.map(({ seq }) => {
      const { text, ...hit } = show.get(seq) as Omit<SearchHit, 'excerpt'> & { text: string };
      return { ...hit, excerpt: excerptOf(text, words) };
    });
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
  return wordsOf(query)
    .map((word, index, words) => `"${word}"${index === words.length - 1 ? '*' : ''}`)
    .join(' ');
}

function wordsOf(query: string): string[] {
  return (query.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).slice(0, WORDS_MAX);
}

/** The text around the first word found; its beginning where accents hide the words from a plain look. */
function excerptOf(text: string, words: readonly string[]): string {
  const folded = fold(text);
  const places = folded.length === text.length ? words.map((word) => folded.indexOf(fold(word))).filter((at) => at >= 0) : [];
  const first = places.length === 0 ? 0 : Math.min(...places);
  const from = Math.max(0, first - EXCERPT_BEFORE);
  const cut = text
    .slice(from, first + EXCERPT_AFTER)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return `${from > 0 ? '… ' : ''}${cut}${first + EXCERPT_AFTER < text.length ? ' …' : ''}`;
}

function fold(text: string): string {
  return text.toLowerCase();
}
