// Memories as rows that follow the log, searchable by words and, if there are vectors, by meaning. Decides nothing: memory-book.ts decides
// what becomes a memory and which are still used.

import { hash } from 'node:crypto';
import * as z from 'zod';
import type { AnyEvent, EventBodies, EventOf } from '../../../contracts/events.ts';
import { memoryOriginSchema, type MemoryState } from '../../../contracts/features/memory.ts';
import type { KeptMemory } from '../../../contracts/memory-ports.ts';
import { taintSourceSchema } from '../../../contracts/tools.ts';
import { HeldRows, type SqlDatabase } from '../../../store/storage/storage.ts';
import { SearchedTexts } from '../recall/searched-texts.ts';
import { allColumns, prepareAll, type StoredMemory } from './memory-sql.ts';

export { memoryMigrations } from './memory-schema.ts';

export interface MemoryFilter {
  readonly state?: MemoryState | undefined;
  readonly kind?: string | undefined;
  readonly scope?: string | undefined;
  /** Used at or after this moment, or pinned. */
  readonly usedSinceMs?: number | undefined;
  readonly contradicted?: boolean | undefined;
}

export interface Contradiction {
  readonly memoryId: string;
  readonly otherId: string;
  readonly reason: string;
}

export interface MemoryCounts {
  readonly kept: number;
  readonly candidates: number;
  readonly contradictions: number;
}

const untrustedSchema = z.array(taintSourceSchema);

export class MemoryRows {
  readonly #db: SqlDatabase;
  readonly #sql: ReturnType<typeof prepareAll>;
  readonly #held: HeldRows;
  /** Of every scope and state. */
  readonly texts: SearchedTexts;

  constructor(db: SqlDatabase) {
    this.#db = db;
    this.#sql = prepareAll(db);
    this.#held = new HeldRows(db, 'memories');
    this.texts = new SearchedTexts(db, { table: 'memories', row: 'row', words: 'memory_text' });
  }

  /** Called for every event inside its transaction. */
  apply(event: AnyEvent): void {
    switch (event.type) {
      case 'memory.remembered':
        this.#remember(event);
        return;
      case 'memory.repeated':
        this.#repeat(event.body, event.atMs);
        return;
      case 'memory.promoted':
        this.#sql.promote.run({ id: event.body.memoryId, rule: event.body.rule, atMs: event.atMs });
        return;
      case 'memory.pinned':
        this.#sql.pin.run({ id: event.body.memoryId, pinned: event.body.pinned ? 1 : 0, atMs: event.atMs });
        return;
      case 'memory.rejected':
      case 'memory.forgotten':
        this.#forget(event.body.memoryId);
        return;
      default:
        this.#applyRest(event);
    }
  }

  #applyRest(event: AnyEvent): void {
    switch (event.type) {
      case 'memory.recalled':
        for (const memoryId of event.body.memoryIds) this.#sql.use.run({ id: memoryId, atMs: event.atMs });
        return;
      case 'memory.contradicted':
        this.#sql.contradict.run(event.body.memoryId, event.body.otherId, event.body.reason, event.atMs);
        return;
      case 'memory.settled':
        this.#settle(event.body);
        return;
      default:
        return;
    }
  }

  find(memoryId: string): KeptMemory | null {
    const row = this.#sql.find.get(memoryId) as StoredMemory | undefined;
    return row === undefined ? null : read(row);
  }

  /** In the order given; missing rows are left out. */
  at(rows: readonly number[]): KeptMemory[] {
    if (rows.length === 0) return [];
    const found = new Map((this.#sql.at.all(JSON.stringify(rows)) as StoredMemory[]).map((stored) => [stored.row, stored]));
    return rows.flatMap((row) => {
      const stored = found.get(row);
      return stored === undefined ? [] : [read(stored)];
    });
  }

  /** An earlier memory in the scope with the same text. */
  findSame(text: string, scope: string): KeptMemory | null {
    const row = this.#sql.same.get(memoryTextKey(text), scope) as StoredMemory | undefined;
    return row === undefined ? null : read(row);
  }

  /** The newest first. */
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
    return (this.#sql.pinned.all(JSON.stringify(scopes), limit) as StoredMemory[]).map(read);
  }

  counts(): MemoryCounts {
    return this.#sql.counts.get() as MemoryCounts;
  }

  seenIn(memoryId: string): number {
    return this.#sql.seenIn.get(memoryId) as number;
  }

  contradictionsOf(memoryId: string): Contradiction[] {
    return this.#sql.contradictionsOf.all({ id: memoryId }) as Contradiction[];
  }

  /** The last event whose turn was read. */
  get cursor(): number {
    return this.cursorOf('turns');
  }

  set cursor(seq: number) {
    this.setCursor('turns', seq);
  }

  /** The last event that a follower of memories has processed. */
  cursorOf(name: string): number {
    return (this.#sql.cursor.get(name) as number | undefined) ?? 0;
  }

  setCursor(name: string, seq: number): void {
    this.#sql.setCursor.run(name, seq);
  }

  /** Texts without a vector. */
  waiting(limit: number): { row: number; scope: string; text: string }[] {
    return this.#sql.waiting.all(limit) as { row: number; scope: string; text: string }[];
  }

  #remember({ body, atMs }: EventOf<'memory.remembered'>): void {
    const { memory, state, rule } = body;
    const createdAtMs = Math.min(body.createdAtMs ?? atMs, atMs);
    this.#held.put();
    const { changes, lastInsertRowid } = this.#sql.put.run({
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
    if (memory.origin.sessionId !== null) this.#sql.putSeen.run(memory.memoryId, memory.origin.sessionId);
  }

  #repeat({ memoryId, sessionId }: EventBodies['memory.repeated'], atMs: number): void {
    if (sessionId !== null) this.#sql.putSeen.run(memoryId, sessionId);
    this.#sql.touch.run({ id: memoryId, atMs });
  }

  #settle({ memoryId, otherId, keep }: EventBodies['memory.settled']): void {
    this.#sql.dropContradiction.run({ id: memoryId, other: otherId });
    if (keep === 'this') this.#forget(otherId);
    if (keep === 'other') this.#forget(memoryId);
  }

  #forget(memoryId: string): void {
    const row = this.#sql.rowOf.get(memoryId) as number | undefined;
    if (row === undefined) return;
    this.texts.remove(row);
    this.#sql.dropVector.run(memoryHash((this.#sql.textOf.get(row) as string | undefined) ?? ''));
    this.#sql.remove.run(row);
    this.#sql.dropSeen.run(memoryId);
    this.#sql.dropContradictions.run({ id: memoryId });
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

/** Equal for texts that differ only in case, accents, spaces and punctuation. */
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
