// Rebuilds the search indexes from the log, and checks that they still match it. The indexes contain nothing that is not in the log.

import type { SqlDatabase, Storage } from '../storage/storage.ts';

/** The number of newest messages that are checked against the index. */
const LOOKED_AT = 5_000;

/** Returns a description of the first difference between index and log, or null if they agree as far as checked. */
export function searchFault(db: SqlDatabase, full: boolean): string | null {
  const { last } = db.prepare('SELECT coalesce(max(seq), 0) AS last FROM events').get() as { last: number };
  const cursors = db.prepare("SELECT name, seq FROM projection_cursors WHERE name IN ('session_text', 'activity')").all() as {
    name: string;
    seq: number;
  }[];
  if (cursors.some(({ seq }) => seq > last)) return 'Its position is beyond the end of the log.';
  try {
    if (full) db.prepare("INSERT INTO session_text (session_text) VALUES ('integrity-check')").run();
    const upTo = cursors.find(({ name }) => name === 'session_text')?.seq ?? 0;
    const { lost } = db
      .prepare(
        `SELECT count(*) AS lost FROM (
           SELECT seq FROM events WHERE seq <= ? AND type IN ('user.message', 'assistant.message') AND json_valid(body)
             AND coalesce(json_extract(body, '$.text'), '') <> '' ORDER BY seq DESC LIMIT ?
         ) said WHERE NOT EXISTS (SELECT 1 FROM session_text WHERE rowid = said.seq)`,
      )
      .get(upTo, full ? Number.MAX_SAFE_INTEGER : LOOKED_AT) as { lost: number };
    return lost === 0 ? null : `${lost} of the checked messages are missing in it.`;
  } catch (cause) {
    return `It is damaged: ${cause instanceof Error ? cause.message : String(cause)}.`;
  }
}

/** Empties both indexes. They are refilled from the log in batches, as after every commit. */
export function emptySearch(storage: Storage): void {
  const { db } = storage;
  storage.transact(() => {
    for (const table of ['session_text', 'activity_text']) remake(db, table);
    db.exec('DELETE FROM activity');
    db.exec("DELETE FROM projection_cursors WHERE name IN ('session_text', 'activity')");
  });
}

/** Drops and recreates the table, because a damaged one cannot be emptied row by row. */
function remake(db: SqlDatabase, table: string): void {
  const row = db.prepare("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?").get(table) as { sql: string } | undefined;
  if (row === undefined) return;
  db.exec(`DROP TABLE ${table}`);
  db.exec(row.sql);
}
