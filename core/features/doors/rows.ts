// The tokens that open doors, kept in step with the log; spending, last use and sessions have columns and rows that no event
// changes. Holds digests, never a token.

import type { AnyEvent } from '../../contracts/events.ts';
import { doorTokenSchema, type DoorToken, type DoorTokenView } from '../../contracts/features/doors.ts';
import type { Migration, SqlDatabase } from '../../store/storage/storage.ts';

export const doorMigrations: readonly Migration[] = [
  {
    id: 'door-001-tokens',
    minSafeVersion: 1,
    up: (db) => {
      db.exec(`
        CREATE TABLE IF NOT EXISTS door_tokens (
          token_id TEXT PRIMARY KEY, door TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL UNIQUE, body TEXT NOT NULL,
          created_at_ms INTEGER NOT NULL, last_used_ms INTEGER, day TEXT NOT NULL DEFAULT '', spent_usd REAL NOT NULL DEFAULT 0
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS door_sessions (session_id TEXT PRIMARY KEY, token_id TEXT NOT NULL) STRICT, WITHOUT ROWID;
      `);
    },
  },
];

export interface TokenRow {
  readonly token: DoorToken;
  readonly digest: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
  /** The local day that `spentUsd` is of. */
  readonly day: string;
  readonly spentUsd: number;
}

function prepareAll(db: SqlDatabase) {
  const columns = 'body, digest, created_at_ms AS createdAtMs, last_used_ms AS lastUsedAtMs, day, spent_usd AS spentUsd FROM door_tokens';
  return {
    put: db.prepare(
      `INSERT INTO door_tokens (token_id, door, name, digest, body, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (token_id) DO UPDATE SET digest = excluded.digest, body = excluded.body`,
    ),
    drop: db.prepare('DELETE FROM door_tokens WHERE token_id = ?'),
    all: db.prepare(`SELECT ${columns} ORDER BY created_at_ms, token_id`),
    use: db.prepare('UPDATE door_tokens SET last_used_ms = ? WHERE token_id = ?'),
    spend: db.prepare(
      'UPDATE door_tokens SET spent_usd = CASE day WHEN @day THEN spent_usd ELSE 0 END + @usd, day = @day WHERE token_id = @tokenId',
    ),
    own: db.prepare('INSERT OR REPLACE INTO door_sessions (session_id, token_id) VALUES (?, ?)'),
    ownerOf: db.prepare('SELECT token_id FROM door_sessions WHERE session_id = ?').pluck(),
    forget: db.prepare('DELETE FROM door_sessions WHERE session_id = ?'),
  };
}

export class DoorRows {
  readonly #db: SqlDatabase;
  // Prepared when first used: most starts touch no door.
  #sql: ReturnType<typeof prepareAll> | null = null;

  constructor(db: SqlDatabase) {
    this.#db = db;
  }

  /** Called for every event inside its transaction. */
  apply(event: AnyEvent): void {
    if (event.type === 'door.token_created') {
      const { digest, by: _by, ...token } = event.body;
      this.#all.put.run(token.tokenId, token.door, token.name, digest, JSON.stringify(token), event.atMs);
    }
    if (event.type === 'door.token_revoked') this.#all.drop.run(event.body.tokenId);
    if (event.type === 'session.deleted') this.#all.forget.run(event.body.sessionId);
  }

  tokens(): TokenRow[] {
    const rows = this.#all.all.all() as (Omit<TokenRow, 'token'> & { readonly body: string })[];
    return rows.map(({ body, ...row }) => ({ ...row, token: doorTokenSchema.parse(JSON.parse(body)) }));
  }

  noteUse(tokenId: string, atMs: number): void {
    this.#all.use.run(atMs, tokenId);
  }

  addSpent(tokenId: string, day: string, usd: number): void {
    this.#all.spend.run({ tokenId, day, usd });
  }

  /** To be called in the transaction of the session's first event. */
  own(sessionId: string, tokenId: string): void {
    this.#all.own.run(sessionId, tokenId);
  }

  ownerOf(sessionId: string): string | null {
    return (this.#all.ownerOf.get(sessionId) as string | undefined) ?? null;
  }

  get #all(): ReturnType<typeof prepareAll> {
    return (this.#sql ??= prepareAll(this.#db));
  }
}

export function viewOf({ token, createdAtMs, lastUsedAtMs, day, spentUsd }: TokenRow, today: string): DoorTokenView {
  return { ...token, createdAtMs, lastUsedAtMs, spentTodayUsd: day === today ? spentUsd : 0 };
}
