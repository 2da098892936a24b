// Finds rows that permit something and that the log does not explain: a row that was put into the database, or changed there, permits
// what no person allowed. Reads only.

import type { EventType } from '../../contracts/events.ts';
import { systemSessionId } from '../../contracts/system-session.ts';
import type { SqlDatabase } from '../storage/storage.ts';

/** Rows that permit something, and the events that explain them. The expressions are SQL. */
export interface PermittingRows {
  /** For a sentence: "The grant". */
  readonly what: string;
  /** The table, or a query in parentheses. */
  readonly rows: string;
  /** Over a row: its name, and what it permits. */
  readonly key: string;
  readonly value: string;
  /** The events that permit it or take it back. */
  readonly events: readonly EventType[];
  /** The same over the body of an event; an event that takes it back has no value. */
  readonly keyInBody: string;
  readonly valueInBody: string;
  /** A query for further sessions with such events. The system session has most of them. */
  readonly sessions?: string;
  /** A command or an action that takes it back, with `KEY` for its name. */
  readonly undo: string;
}

/** `undo` contains the name. */
export type UnexplainedRow = Pick<PermittingRows, 'what' | 'key' | 'undo'>;

const FOUND_MAX = 20;

/** Compares each row with the newest event about it. Costs one short query for an empty table. */
export function unexplainedRows(db: SqlDatabase, given: PermittingRows): UnexplainedRow[] {
  const { what, rows, key, value, events, keyInBody, valueInBody, sessions, undo } = given;
  if (db.prepare(`SELECT 1 FROM ${rows} LIMIT 1`).get() === undefined) return [];
  const places = `SELECT '${systemSessionId}'${sessions === undefined ? '' : ` UNION ${sessions}`}`;
  const types = events.map((type) => `'${type}'`).join(', ');
  const found = db.prepare(`
    WITH told AS MATERIALIZED (
      SELECT ${keyInBody} AS name, ${valueInBody} AS permits, max(seq) FROM events
        WHERE session_id IN (${places}) AND type IN (${types}) GROUP BY name
    )
    SELECT held.name AS key FROM (SELECT ${key} AS name, ${value} AS permits FROM ${rows}) AS held LEFT JOIN told ON told.name = held.name
      WHERE told.permits IS NOT held.permits LIMIT ${FOUND_MAX}
  `);
  return (found.all() as { key: string }[]).map((row) => ({ what, key: row.key, undo: undo.replace('KEY', row.key) }));
}
