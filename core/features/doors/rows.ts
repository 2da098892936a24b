// The tokens that open doors, kept in step with the log. Spending, last use and sessions are stored in columns and rows that no event
// changes. Stores digests, never a token.

import type { AnyEvent } from '../../contracts/events.ts';
import { doorTokenSchema, type DoorToken, type DoorTokenView } from '../../contracts/features/doors.ts';
import { Statements, sqlMigrations, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const doorMigrations: readonly Migration[] = sqlMigrations({
  'door-001-tokens': `
    CREATE TABLE IF NOT EXISTS door_tokens (
      token_id TEXT PRIMARY KEY, door TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL UNIQUE, body TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL, last_used_ms INTEGER, day TEXT NOT NULL DEFAULT '', spent_usd REAL NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS door_sessions (session_id TEXT PRIMARY KEY, token_id TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
});

export interface TokenRow {
  readonly token: DoorToken;
  readonly digest: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
  /** The local day of `spentUsd`. */
  readonly day: string;
  readonly spentUsd: number;
}

const columns = 'body, digest, created_at_ms AS createdAtMs, last_used_ms AS lastUsedAtMs, day, spent_usd AS spentUsd FROM door_tokens';

const statements = {
  put: `INSERT INTO door_tokens (token_id, door, name, digest, body, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (token_id) DO UPDATE SET digest = excluded.digest, body = excluded.body`,
  all: `SELECT ${columns} ORDER BY created_at_ms, token_id`,
  spend: 'UPDATE door_tokens SET spent_usd = CASE day WHEN @day THEN spent_usd ELSE 0 END + @usd, day = @day WHERE token_id = @tokenId',
};

export class DoorRows {
  readonly #sql: Statements;

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
  }

  /** Called for every event within its transaction. */
  apply(event: AnyEvent): void {
    if (event.type === 'door.token_created') {
      const { digest, by: _by, ...token } = event.body;
      this.#sql.run(statements.put, token.tokenId, token.door, token.name, digest, JSON.stringify(token), event.atMs);
    }
    if (event.type === 'door.token_revoked') this.#sql.run('DELETE FROM door_tokens WHERE token_id = ?', event.body.tokenId);
    if (event.type === 'session.deleted') this.#sql.run('DELETE FROM door_sessions WHERE session_id = ?', event.body.sessionId);
  }

  tokens(): TokenRow[] {
    const rows = this.#sql.rows<Omit<TokenRow, 'token'> & { readonly body: string }>(statements.all);
    return rows.map(({ body, ...row }) => ({ ...row, token: doorTokenSchema.parse(JSON.parse(body)) }));
  }

  noteUse(tokenId: string, atMs: number): void {
    this.#sql.run('UPDATE door_tokens SET last_used_ms = ? WHERE token_id = ?', atMs, tokenId);
  }

  addSpent(tokenId: string, day: string, usd: number): void {
    this.#sql.run(statements.spend, { tokenId, day, usd });
  }

  /** Must be called in the transaction of the session's first event. */
  own(sessionId: string, tokenId: string): void {
    this.#sql.run('INSERT OR REPLACE INTO door_sessions (session_id, token_id) VALUES (?, ?)', sessionId, tokenId);
  }

  ownerOf(sessionId: string): string | null {
    return this.#sql.value<string>('SELECT token_id FROM door_sessions WHERE session_id = ?', sessionId) ?? null;
  }
}

export function viewOf({ token, createdAtMs, lastUsedAtMs, day, spentUsd }: TokenRow, today: string): DoorTokenView {
  return { ...token, createdAtMs, lastUsedAtMs, spentTodayUsd: day === today ? spentUsd : 0 };
}
