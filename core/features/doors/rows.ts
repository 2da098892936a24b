// The tokens that open doors and what they spent, kept in step with the log: a turn that a program began is charged to its token when it
// ends, whatever became of the request. Stores digests, never a token.

import { localDay } from '../../base/local-day.ts';
import type { DoorTurn } from '../../contracts/door-route.ts';
import { byType } from '../../contracts/event-table.ts';
import { doorTokenSchema, type DoorToken, type DoorTokenView } from '../../contracts/features/doors.ts';
import type { PermittingRows } from '../../store/session/session.ts';
import { Statements, sqlMigrations, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const doorMigrations: readonly Migration[] = sqlMigrations({
  'door-001-tokens': `
    CREATE TABLE IF NOT EXISTS door_tokens (
      token_id TEXT PRIMARY KEY, door TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL UNIQUE, body TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL, last_used_ms INTEGER, day TEXT NOT NULL DEFAULT '', spent_usd REAL NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS door_sessions (session_id TEXT PRIMARY KEY, token_id TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  'door-002-turns': `
    CREATE TABLE IF NOT EXISTS door_turns (
      turn_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, token_id TEXT NOT NULL, usd REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
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
  spend: `UPDATE door_tokens SET spent_usd = CASE day WHEN @day THEN spent_usd ELSE 0 END + @usd, day = @day
     WHERE token_id = @by OR door || ':' || name = @by`,
  begin: 'INSERT OR IGNORE INTO door_turns (turn_id, session_id, token_id, usd) VALUES (@turnId, @sessionId, @tokenId, @usd)',
  end: 'DELETE FROM door_turns WHERE turn_id = ? RETURNING token_id',
  used: `SELECT CASE day WHEN @day THEN spent_usd ELSE 0 END + (SELECT total(usd) FROM door_turns WHERE token_id = @tokenId)
     FROM door_tokens WHERE token_id = @tokenId`,
};

/** Above this number, the turns in memory are read again. */
const OPEN_MAX = 1_000;

export class DoorRows {
  readonly #sql: Statements;
  /** The turns of programs, and some that have ended; null until they are read. Other turns need no statement. */
  #open: Set<string> | null = null;

  readonly permits = {
    what: 'The token',
    rows: 'door_tokens',
    key: 'token_id',
    value: "digest || door || json_extract(body, '$.scopes')",
    events: ['door.token_created', 'door.token_revoked'],
    keyInBody: "json_extract(body, '$.tokenId')",
    valueInBody: "json_extract(body, '$.digest') || json_extract(body, '$.door') || json_extract(body, '$.scopes')",
    undo: 'trayclaw doors token revoke KEY',
  } satisfies PermittingRows;

  readonly apply = byType({
    'door.token_created': ({ body: { digest, by: _by, ...token }, atMs }) =>
      void this.#sql.run(statements.put, token.tokenId, token.door, token.name, digest, JSON.stringify(token), atMs),
    'door.token_revoked': ({ body: { tokenId } }) => {
      for (const table of ['door_tokens', 'door_turns']) this.#sql.run(`DELETE FROM ${table} WHERE token_id = ?`, tokenId);
    },
    'session.deleted': ({ body: { sessionId } }) => {
      for (const table of ['door_sessions', 'door_turns']) this.#sql.run(`DELETE FROM ${table} WHERE session_id = ?`, sessionId);
    },
    'turn.started': ({ body: { helper, channel }, turnId, sessionId }) => {
      // The token whose turn began a subagent pays for it, and a direct call is paid by the token that owns its session.
      const root = helper?.payers.at(-1)?.turnId;
      const tokenId = root === undefined ? (channel === 'mcp' ? this.ownerOf(sessionId) : null) : this.#payerOf(root);
      if (tokenId !== null) this.#begin({ turnId, sessionId, tokenId, usd: 0 });
    },
    'turn.finished': ({ body: { costUsd }, turnId, atMs }) => {
      const tokenId = this.#mayBeOpen(turnId) ? this.#sql.value<string>(statements.end, turnId) : undefined;
      if (tokenId !== undefined) this.#spend(tokenId, atMs, costUsd);
    },
    'door.answered': ({ body: { door, client, costUsd }, atMs }) => this.#spend(`${door}:${client}`, atMs, costUsd),
    'value.given': ({ body: { by, costUsd }, atMs }) => this.#spend(by, atMs, costUsd),
  });

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
  }

  tokens(): TokenRow[] {
    const rows = this.#sql.rows<Omit<TokenRow, 'token'> & { readonly body: string }>(statements.all);
    return rows.map(({ body, ...row }) => ({ ...row, token: doorTokenSchema.parse(JSON.parse(body)) }));
  }

  noteUse(tokenId: string, atMs: number): void {
    this.#sql.run('UPDATE door_tokens SET last_used_ms = ? WHERE token_id = ?', atMs, tokenId);
  }

  /** US dollars that the token spent on this day, and those reserved for its running turns. */
  usedUsd(tokenId: string, day: string): number {
    return this.#sql.value<number>(statements.used, { tokenId, day }) ?? 0;
  }

  begin(tokenId: string, { sessionId, turnId, bounds }: DoorTurn): void {
    this.own(sessionId, tokenId);
    this.#begin({ turnId, sessionId, tokenId, usd: bounds.usd ?? 0 });
  }

  own(sessionId: string, tokenId: string): void {
    this.#sql.run('INSERT OR REPLACE INTO door_sessions (session_id, token_id) VALUES (?, ?)', sessionId, tokenId);
  }

  ownerOf(sessionId: string): string | null {
    return this.#sql.value<string>('SELECT token_id FROM door_sessions WHERE session_id = ?', sessionId) ?? null;
  }

  #begin(turn: { readonly turnId: string | null; readonly sessionId: string; readonly tokenId: string; readonly usd: number }): void {
    this.#sql.run(statements.begin, turn);
    if (turn.turnId !== null) this.#open?.add(turn.turnId);
  }

  #mayBeOpen(turnId: string | null): boolean {
    if (this.#open === null || this.#open.size > OPEN_MAX) {
      this.#open = new Set(this.#sql.rows<{ readonly id: string }>('SELECT turn_id AS id FROM door_turns').map(({ id }) => id));
    }
    return turnId !== null && this.#open.has(turnId);
  }

  #payerOf(turnId: string): string | null {
    return this.#sql.value<string>('SELECT token_id FROM door_turns WHERE turn_id = ?', turnId) ?? null;
  }

  /** `by` is the id of the token, or its door and name as in the actor of a caller. */
  #spend(by: string, atMs: number, usd: number | null): void {
    if (usd !== null && usd > 0) this.#sql.run(statements.spend, { by, day: localDay(atMs), usd });
  }
}

export function viewOf({ token, createdAtMs, lastUsedAtMs, day, spentUsd }: TokenRow, today: string): DoorTokenView {
  return { ...token, createdAtMs, lastUsedAtMs, spentTodayUsd: day === today ? spentUsd : 0 };
}
