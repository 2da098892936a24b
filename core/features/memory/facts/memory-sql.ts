// The statements on the tables of memories.

import type { MemoryKind, MemoryState } from '../../../contracts/features/memory.ts';
import type { SqlDatabase, SqlStatement } from '../../../store/storage/storage.ts';

export interface StoredMemory {
  readonly row: number;
  readonly memoryId: string;
  readonly state: MemoryState;
  readonly kind: MemoryKind;
  readonly scope: string;
  readonly text: string;
  readonly importance: number;
  readonly pinned: number;
  readonly createdAtMs: number;
  readonly usedAtMs: number;
  readonly uses: number;
  readonly rule: string | null;
  readonly origin: string;
  readonly untrusted: string;
}

export const allColumns =
  'row, memory_id AS memoryId, state, kind, scope, text, importance, pinned, created_at_ms AS createdAtMs, used_at_ms AS usedAtMs, uses, rule, origin, untrusted';

/** Named, because the declaration of an exported function cannot use the driver's types directly. */
type StatementName =
  | 'put'
  | 'promote'
  | 'pin'
  | 'use'
  | 'touch'
  | 'remove'
  | 'rowOf'
  | 'textOf'
  | 'find'
  | 'at'
  | 'same'
  | 'pinned'
  | 'counts'
  | 'putSeen'
  | 'seenIn'
  | 'dropSeen'
  | 'contradict'
  | 'contradictionsOf'
  | 'dropContradiction'
  | 'dropContradictions'
  | 'cursor'
  | 'setCursor'
  | 'waiting'
  | 'dropVector';

export function prepareAll(db: SqlDatabase): Readonly<Record<StatementName, SqlStatement>> {
  const all = `SELECT ${allColumns} FROM memories`;
  return {
    put: db.prepare(
      `INSERT OR IGNORE INTO memories (memory_id, state, kind, scope, text, text_key, importance, pinned, created_at_ms, used_at_ms, rule, origin, untrusted)
       VALUES (@memoryId, @state, @kind, @scope, @text, @textKey, @importance, @pinned, @createdAtMs, @usedAtMs, @rule, @origin, @untrusted)`,
    ),
    promote: db.prepare("UPDATE memories SET state = 'kept', rule = @rule, used_at_ms = max(used_at_ms, @atMs) WHERE memory_id = @id"),
    pin: db.prepare('UPDATE memories SET pinned = @pinned, used_at_ms = max(used_at_ms, @atMs) WHERE memory_id = @id'),
    use: db.prepare('UPDATE memories SET used_at_ms = max(used_at_ms, @atMs), uses = uses + 1 WHERE memory_id = @id'),
    touch: db.prepare('UPDATE memories SET used_at_ms = max(used_at_ms, @atMs) WHERE memory_id = @id'),
    remove: db.prepare('DELETE FROM memories WHERE row = ?'),
    rowOf: db.prepare('SELECT row FROM memories WHERE memory_id = ?').pluck(),
    textOf: db.prepare('SELECT text FROM memories WHERE row = ?').pluck(),
    find: db.prepare(`${all} WHERE memory_id = ?`),
    at: db.prepare(`${all} WHERE row IN (SELECT value FROM json_each(?))`),
    same: db.prepare(`${all} WHERE text_key = ? AND scope = ? LIMIT 1`),
    pinned: db.prepare(
      `${all} WHERE pinned = 1 AND state = 'kept' AND scope IN (SELECT value FROM json_each(?)) ORDER BY importance DESC, row LIMIT ?`,
    ),
    counts: db.prepare(
      `SELECT (SELECT count(*) FROM memories WHERE state = 'kept') AS kept, (SELECT count(*) FROM memories WHERE state = 'candidate') AS candidates,
         (SELECT count(*) FROM memory_contradictions) AS contradictions`,
    ),
    putSeen: db.prepare('INSERT OR IGNORE INTO memory_seen (memory_id, session_id) VALUES (?, ?)'),
    seenIn: db.prepare('SELECT count(*) FROM memory_seen WHERE memory_id = ?').pluck(),
    dropSeen: db.prepare('DELETE FROM memory_seen WHERE memory_id = ?'),
    contradict: db.prepare('INSERT OR IGNORE INTO memory_contradictions (memory_id, other_id, reason, at_ms) VALUES (?, ?, ?, ?)'),
    contradictionsOf: db.prepare(
      'SELECT memory_id AS memoryId, other_id AS otherId, reason FROM memory_contradictions WHERE memory_id = @id OR other_id = @id ORDER BY at_ms',
    ),
    dropContradiction: db.prepare(
      'DELETE FROM memory_contradictions WHERE (memory_id = @id AND other_id = @other) OR (memory_id = @other AND other_id = @id)',
    ),
    dropContradictions: db.prepare('DELETE FROM memory_contradictions WHERE memory_id = @id OR other_id = @id'),
    cursor: db.prepare('SELECT seq FROM memory_cursors WHERE name = ?').pluck(),
    setCursor: db.prepare('INSERT INTO memory_cursors (name, seq) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seq = excluded.seq'),
    waiting: db.prepare('SELECT row, scope, text FROM memories WHERE embedded = 0 ORDER BY row LIMIT ?'),
    dropVector: db.prepare('DELETE FROM embedding_vectors WHERE text_hash = ?'),
  };
}
