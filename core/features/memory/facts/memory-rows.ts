// Memories as rows derived from the log, with full-text search and, if there are vectors, vector search. Makes no decisions: memory-book.ts
// decides what becomes a memory and which memories are used.

import { hash } from 'node:crypto';
import * as z from 'zod';
import { byType } from '../../../contracts/event-table.ts';
import type { EventBodies, EventOf } from '../../../contracts/events.ts';
import { memoryOriginSchema, type MemoryState } from '../../../contracts/features/memory.ts';
import type { KeptMemory } from '../../../contracts/memory-ports.ts';
import { taintSourceSchema } from '../../../contracts/tools.ts';
import type { OpResult } from '../../../contracts/ops.ts';
import type { PermittingRows } from '../../../store/session/session.ts';
import { HeldRows, Statements, type SqlDatabase, wordIndexForm, sqlMigrations, type Migration } from '../../../store/storage/storage.ts';
import { SearchedTexts } from '../recall/searched-texts.ts';

/** The tables of memories, which are derived from the log, and their full-text index. */
export const memoryMigrations: readonly Migration[] = sqlMigrations({
  'memory-001-tables': `
    -- text_key tells the same thing said in other letters; embedded: its vector is in the index.
    CREATE TABLE IF NOT EXISTS memories (
      row INTEGER PRIMARY KEY, memory_id TEXT NOT NULL UNIQUE, state TEXT NOT NULL, kind TEXT NOT NULL, scope TEXT NOT NULL,
      text TEXT NOT NULL, text_key TEXT NOT NULL, importance REAL NOT NULL, pinned INTEGER NOT NULL, created_at_ms INTEGER NOT NULL,
      used_at_ms INTEGER NOT NULL, uses INTEGER NOT NULL DEFAULT 0, rule TEXT, origin TEXT NOT NULL, untrusted TEXT NOT NULL,
      embedded INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX IF NOT EXISTS memories_by_key ON memories (text_key);
    CREATE INDEX IF NOT EXISTS memories_by_state ON memories (state, created_at_ms);
    CREATE INDEX IF NOT EXISTS memories_by_scope ON memories (scope, used_at_ms);
    CREATE INDEX IF NOT EXISTS memories_pinned ON memories (scope) WHERE pinned = 1;
    CREATE INDEX IF NOT EXISTS memories_waiting ON memories (row) WHERE embedded = 0;
    -- The conversations in which one was brought up.
    CREATE TABLE IF NOT EXISTS memory_seen (
      memory_id TEXT NOT NULL, session_id TEXT NOT NULL, PRIMARY KEY (memory_id, session_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS memory_contradictions (
      memory_id TEXT NOT NULL, other_id TEXT NOT NULL, reason TEXT NOT NULL, at_ms INTEGER NOT NULL, PRIMARY KEY (memory_id, other_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS memory_contradictions_other ON memory_contradictions (other_id);
    -- Up to where turns were looked through.
    CREATE TABLE IF NOT EXISTS memory_cursors (name TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE VIRTUAL TABLE IF NOT EXISTS memory_text USING fts5 (title, body, ${wordIndexForm});
  `,
});

export interface MemoryFilter {
  readonly state?: MemoryState | undefined;
  readonly kind?: string | undefined;
  readonly scope?: string | undefined;
  /** Only memories used at or after this moment, or pinned. */
  readonly usedSinceMs?: number | undefined;
  readonly contradicted?: boolean | undefined;
}

export interface Contradiction {
  readonly memoryId: string;
  readonly otherId: string;
  readonly reason: string;
}

export type MemoryCounts = OpResult<'memory.list'>['counts'];

interface StoredMemory extends Omit<KeptMemory, 'pinned' | 'origin' | 'untrusted'> {
  readonly pinned: number;
  readonly origin: string;
  readonly untrusted: string;
}

const allColumns =
  'row, memory_id AS memoryId, state, kind, scope, text, importance, pinned, created_at_ms AS createdAtMs, used_at_ms AS usedAtMs, uses, rule, origin, untrusted';

const all = `SELECT ${allColumns} FROM memories`;

const statements = {
  put: `INSERT OR IGNORE INTO memories (memory_id, state, kind, scope, text, text_key, importance, pinned, created_at_ms, used_at_ms, rule, origin, untrusted)
     VALUES (@memoryId, @state, @kind, @scope, @text, @textKey, @importance, @pinned, @createdAtMs, @usedAtMs, @rule, @origin, @untrusted)`,
  promote: "UPDATE memories SET state = 'kept', rule = @rule, used_at_ms = max(used_at_ms, @atMs) WHERE memory_id = @id",
  pin: 'UPDATE memories SET pinned = @pinned, used_at_ms = max(used_at_ms, @atMs) WHERE memory_id = @id',
  use: 'UPDATE memories SET used_at_ms = max(used_at_ms, @atMs), uses = uses + 1 WHERE memory_id = @id',
  at: `${all} WHERE row IN (SELECT value FROM json_each(?))`,
  pinned: `${all} WHERE pinned = 1 AND state = 'kept' AND scope IN (SELECT value FROM json_each(?)) ORDER BY importance DESC, row LIMIT ?`,
  counts: `SELECT (SELECT count(*) FROM memories WHERE state = 'kept') AS kept, (SELECT count(*) FROM memories WHERE state = 'candidate') AS candidates,
       (SELECT count(*) FROM memory_contradictions) AS contradictions`,
  putSeen: 'INSERT OR IGNORE INTO memory_seen (memory_id, session_id) VALUES (?, ?)',
  contradict: 'INSERT OR IGNORE INTO memory_contradictions (memory_id, other_id, reason, at_ms) VALUES (?, ?, ?, ?)',
  contradictionsOf:
    'SELECT memory_id AS memoryId, other_id AS otherId, reason FROM memory_contradictions WHERE memory_id = @id OR other_id = @id ORDER BY at_ms',
  dropContradiction:
    'DELETE FROM memory_contradictions WHERE (memory_id = @id AND other_id = @other) OR (memory_id = @other AND other_id = @id)',
  waiting: 'SELECT row, scope, text FROM memories WHERE embedded = 0 ORDER BY row LIMIT ?',
  dropVector: 'DELETE FROM embedding_vectors WHERE text_hash = ?',
};

const aboutMemory = {
  what: 'The memory',
  key: 'memory_id',
  keyInBody: "coalesce(json_extract(body, '$.memory.memoryId'), json_extract(body, '$.memoryId'))",
  undo: 'trayclaw memory forget KEY',
} as const;

const untrustedSchema = z.array(taintSourceSchema);

export class MemoryRows {
  readonly #db: SqlDatabase;
  readonly #sql: Statements;
  readonly #held: HeldRows;
  /** Covers memories of every scope and state. */
  readonly texts: SearchedTexts;

  /** The text, the sources and the state of a memory decide which facts later turns get. */
  readonly permits: readonly PermittingRows[] = [
    {
      ...aboutMemory,
      rows: 'memories',
      value: 'json_array(kind, scope, text, json(untrusted))',
      events: ['memory.remembered', 'memory.rejected', 'memory.forgotten'],
      valueInBody: `iif(json_extract(body, '$.memory') IS NULL, NULL, json_array(json_extract(body, '$.memory.kind'),
        json_extract(body, '$.memory.scope'), json_extract(body, '$.memory.text'), json(json_extract(body, '$.memory.untrusted'))))`,
    },
    {
      ...aboutMemory,
      rows: "(SELECT * FROM memories WHERE state = 'kept')",
      value: 'state',
      events: ['memory.remembered', 'memory.promoted', 'memory.rejected', 'memory.forgotten'],
      valueInBody: "iif(type = 'memory.promoted', 'kept', json_extract(body, '$.state'))",
    },
  ];

  readonly apply = byType({
    'memory.remembered': (event) => this.#remember(event),
    'memory.repeated': ({ body, atMs }) => this.#repeat(body, atMs),
    'memory.promoted': ({ body, atMs }) => void this.#sql.run(statements.promote, { id: body.memoryId, rule: body.rule, atMs }),
    'memory.pinned': ({ body, atMs }) => void this.#sql.run(statements.pin, { id: body.memoryId, pinned: body.pinned ? 1 : 0, atMs }),
    'memory.rejected': ({ body }) => this.#forget(body.memoryId),
    'memory.forgotten': ({ body }) => this.#forget(body.memoryId),
    'memory.recalled': ({ body, atMs }) => {
      for (const memoryId of body.memoryIds) this.#sql.run(statements.use, { id: memoryId, atMs });
    },
    'memory.contradicted': ({ body, atMs }) => void this.#sql.run(statements.contradict, body.memoryId, body.otherId, body.reason, atMs),
    'memory.settled': ({ body }) => this.#settle(body),
  });

  constructor(db: SqlDatabase) {
    this.#db = db;
    this.#sql = new Statements(db);
    this.#held = new HeldRows(db, 'memories');
    this.texts = new SearchedTexts(db, { table: 'memories', row: 'row', words: 'memory_text' });
  }

  find(memoryId: string): KeptMemory | null {
    const row = this.#sql.row<StoredMemory>(`${all} WHERE memory_id = ?`, memoryId);
    return row === undefined ? null : read(row);
  }

  /** Returns the memories in the given order; missing rows are left out. */
  at(rows: readonly number[]): KeptMemory[] {
    if (rows.length === 0) return [];
    const found = new Map(this.#sql.rows<StoredMemory>(statements.at, JSON.stringify(rows)).map((stored) => [stored.row, stored]));
    return rows.flatMap((row) => {
      const stored = found.get(row);
      return stored === undefined ? [] : [read(stored)];
    });
  }

  /** The existing memory in the scope with the same text, or null. */
  findSame(text: string, scope: string): KeptMemory | null {
    const row = this.#sql.row<StoredMemory>(`${all} WHERE text_key = ? AND scope = ? LIMIT 1`, memoryTextKey(text), scope);
    return row === undefined ? null : read(row);
  }

  /** Newest first. */
  list(filter: MemoryFilter, limit: number, offset = 0): KeptMemory[] {
    const given: readonly (readonly [sql: string, value: string | number | undefined])[] = [
      ['state = ?', filter.state],
      ['kind = ?', filter.kind],
      ['scope = ?', filter.scope],
      ['(used_at_ms >= ? OR pinned = 1)', filter.usedSinceMs],
    ];
    const wanted = given.filter(([, value]) => value !== undefined);
    const where = wanted.map(([sql]) => sql);
    if (filter.contradicted === true) where.push(contradictedSql);
    const rows = this.#db
      .prepare(
        `SELECT ${allColumns} FROM memories ${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`} ORDER BY created_at_ms DESC, row DESC LIMIT ? OFFSET ?`,
      )
      .all(...wanted.map(([, value]) => value), limit, offset) as StoredMemory[];
    return rows.map(read);
  }

  pinned(scopes: readonly string[], limit: number): KeptMemory[] {
    if (!this.#held.any) return [];
    return this.#sql.rows<StoredMemory>(statements.pinned, JSON.stringify(scopes), limit).map(read);
  }

  counts(): MemoryCounts {
    return this.#sql.row(statements.counts) as MemoryCounts;
  }

  seenIn(memoryId: string): number {
    return this.#sql.value('SELECT count(*) FROM memory_seen WHERE memory_id = ?', memoryId) as number;
  }

  contradictionsOf(memoryId: string): Contradiction[] {
    return this.#sql.rows<Contradiction>(statements.contradictionsOf, { id: memoryId });
  }

  /** The last event that the collector has read. */
  get cursor(): number {
    return this.cursorOf('turns');
  }

  set cursor(seq: number) {
    this.setCursor('turns', seq);
  }

  /** The last event that this follower of the log has processed. */
  cursorOf(name: string): number {
    return this.#sql.value<number>('SELECT seq FROM memory_cursors WHERE name = ?', name) ?? 0;
  }

  setCursor(name: string, seq: number): void {
    this.#sql.run('INSERT INTO memory_cursors (name, seq) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seq = excluded.seq', name, seq);
  }

  /** Memories that have no vector yet. */
  waiting(limit: number): { row: number; scope: string; text: string }[] {
    return this.#sql.rows<{ row: number; scope: string; text: string }>(statements.waiting, limit);
  }

  #remember({ body, atMs }: EventOf<'memory.remembered'>): void {
    const { memory, state, rule } = body;
    const createdAtMs = Math.min(body.createdAtMs ?? atMs, atMs);
    this.#held.put();
    const { changes, lastInsertRowid } = this.#sql.run(statements.put, {
      ...memory,
      state,
      rule,
      textKey: memoryTextKey(memory.text),
      pinned: body.pinned === true ? 1 : 0,
      createdAtMs,
      usedAtMs: atMs,
      origin: JSON.stringify(memory.origin),
      untrusted: JSON.stringify(memory.untrusted),
    });
    if (changes === 0) return;
    this.texts.put(Number(lastInsertRowid), '', memory.text);
    if (memory.origin.sessionId !== null) this.#sql.run(statements.putSeen, memory.memoryId, memory.origin.sessionId);
  }

  #repeat({ memoryId, sessionId }: EventBodies['memory.repeated'], atMs: number): void {
    if (sessionId !== null) this.#sql.run(statements.putSeen, memoryId, sessionId);
    this.#sql.run('UPDATE memories SET used_at_ms = max(used_at_ms, @atMs) WHERE memory_id = @id', { id: memoryId, atMs });
  }

  #settle({ memoryId, otherId, keep }: EventBodies['memory.settled']): void {
    this.#sql.run(statements.dropContradiction, { id: memoryId, other: otherId });
    if (keep === 'this') this.#forget(otherId);
    if (keep === 'other') this.#forget(memoryId);
  }

  #forget(memoryId: string): void {
    const row = this.#sql.value<number>('SELECT row FROM memories WHERE memory_id = ?', memoryId);
    if (row === undefined) return;
    this.texts.remove(row);
    this.#sql.run(statements.dropVector, memoryHash(this.#sql.value<string>('SELECT text FROM memories WHERE row = ?', row) ?? ''));
    this.#sql.run('DELETE FROM memories WHERE row = ?', row);
    this.#sql.run('DELETE FROM memory_seen WHERE memory_id = ?', memoryId);
    this.#sql.run('DELETE FROM memory_contradictions WHERE memory_id = @id OR other_id = @id', { id: memoryId });
  }
}

const contradictedSql =
  '(EXISTS (SELECT 1 FROM memory_contradictions c WHERE c.memory_id = memories.memory_id) OR ' +
  'EXISTS (SELECT 1 FROM memory_contradictions c WHERE c.other_id = memories.memory_id))';

function read({ origin, untrusted, pinned, ...row }: StoredMemory): KeptMemory {
  return {
    ...row,
    pinned: pinned === 1,
    origin: memoryOriginSchema.parse(JSON.parse(origin)),
    untrusted: untrustedSchema.parse(JSON.parse(untrusted)),
  };
}

/** The same for texts that differ only in case, accents, spaces and punctuation. */
export function memoryTextKey(text: string): string {
  const words =
    text
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/\p{M}/gu, '')
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return hash('sha256', words.length === 0 ? text : words.join(' '), 'hex').slice(0, 32);
}

/** The key of a memory's vector in the cache. */
export function memoryHash(text: string): string {
  return hash('sha256', `memory\n${text}`, 'hex');
}
