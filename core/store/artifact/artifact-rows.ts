// Artifacts in the database: one row per content, one per use, one per alias. Accesses no files.

import type Database from 'better-sqlite3';
import { Statements, sqlMigrations, type Migration } from '../storage/storage.ts';
import type { ArtifactRef } from '../../contracts/tools.ts';

export const artifactMigrations: readonly Migration[] = sqlMigrations({
  'artifact-001-tables': `
    CREATE TABLE IF NOT EXISTS artifacts (
      sha256 TEXT PRIMARY KEY,
      size_bytes INTEGER NOT NULL,
      last_used_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS artifacts_by_last_use ON artifacts (last_used_at_ms);
    -- Absent session and call are '' so that a use that happens twice is one row.
    CREATE TABLE IF NOT EXISTS artifact_uses (
      use_id INTEGER PRIMARY KEY AUTOINCREMENT,
      sha256 TEXT NOT NULL REFERENCES artifacts (sha256),
      name TEXT NOT NULL,
      media_type TEXT NOT NULL,
      session_id TEXT NOT NULL,
      call_id TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL,
      UNIQUE (sha256, session_id, call_id, name)
    ) STRICT;
    CREATE INDEX IF NOT EXISTS artifact_uses_by_session ON artifact_uses (session_id, use_id);
    CREATE TABLE IF NOT EXISTS artifact_aliases (
      alias_id INTEGER PRIMARY KEY AUTOINCREMENT,
      session_id TEXT NOT NULL,
      alias TEXT NOT NULL,
      sha256 TEXT NOT NULL REFERENCES artifacts (sha256),
      UNIQUE (session_id, alias)
    ) STRICT;
    CREATE INDEX IF NOT EXISTS artifact_aliases_by_name ON artifact_aliases (alias, alias_id);
    CREATE INDEX IF NOT EXISTS artifact_aliases_by_content ON artifact_aliases (sha256);`,
  'artifact-002-retention-clock': `
    CREATE TABLE IF NOT EXISTS retention_clock (one INTEGER PRIMARY KEY CHECK (one = 1), reached_ms INTEGER NOT NULL) STRICT;`,
});

/** An artifact as its newest use describes it. */
export interface ArtifactInfo extends ArtifactRef {
  readonly aliases: string[];
  readonly createdAtMs: number;
  readonly sessionId: string | null;
  /** The call that stored the artifact. */
  readonly callId: string | null;
}

export interface ArtifactUse {
  readonly name: string;
  readonly mediaType: string;
  readonly sessionId: string;
  readonly callId: string;
  readonly atMs: number;
}

interface InfoRow extends Omit<ArtifactUse, 'atMs'> {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly createdAtMs: number;
}

type UnusedRow = Pick<InfoRow, 'sha256'> & { readonly lastUsedAtMs: number };

const SELECT_INFO = `
  SELECT u.sha256, u.name, u.media_type AS mediaType, a.size_bytes AS sizeBytes, u.created_at_ms AS createdAtMs,
         u.session_id AS sessionId, u.call_id AS callId, MAX(u.use_id) AS newest
  FROM artifact_uses u JOIN artifacts a USING (sha256)`;

const NEWEST_FIRST = 'GROUP BY u.sha256 ORDER BY newest DESC LIMIT ?';

const statements = {
  content: `INSERT INTO artifacts VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET last_used_at_ms = MAX(last_used_at_ms, excluded.last_used_at_ms)`,
  insertUse: `INSERT OR REPLACE INTO artifact_uses (sha256, name, media_type, session_id, call_id, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)`,
  insertAlias: `INSERT OR REPLACE INTO artifact_aliases (session_id, alias, sha256) VALUES (?, ?, ?)`,
  shareUses: `INSERT OR IGNORE INTO artifact_uses (sha256, name, media_type, session_id, call_id, created_at_ms)
     SELECT sha256, name, media_type, ?, call_id, created_at_ms FROM artifact_uses WHERE session_id = ? ORDER BY use_id`,
  shareAliases: `INSERT OR IGNORE INTO artifact_aliases (session_id, alias, sha256)
     SELECT ?, alias, sha256 FROM artifact_aliases WHERE session_id = ? ORDER BY alias_id`,
  byAlias: 'SELECT sha256 FROM artifact_aliases WHERE alias = ? ORDER BY alias_id DESC LIMIT 1',
  bySessionAlias: 'SELECT sha256 FROM artifact_aliases WHERE session_id = ? AND alias = ?',
  unusedSince: `SELECT sha256, last_used_at_ms AS lastUsedAtMs FROM artifacts
     WHERE last_used_at_ms < ? AND (last_used_at_ms, sha256) > (?, ?) ORDER BY last_used_at_ms, sha256 LIMIT ?`,
};

export class ArtifactRows {
  readonly #db: Database.Database;
  readonly #sql: Statements;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#sql = new Statements(db);
  }

  recordUse(sha256: string, sizeBytes: number, use: ArtifactUse): void {
    this.#inTransaction(() => {
      this.#sql.run(statements.content, sha256, sizeBytes, use.atMs);
      this.#sql.run(statements.insertUse, sha256, use.name, use.mediaType, use.sessionId, use.callId, use.atMs);
      this.#sql.run(statements.insertAlias, use.sessionId, use.name, sha256);
    });
  }

  /** Records everything that one session uses as used by another session as well, under the same names. */
  share(fromSessionId: string, toSessionId: string): void {
    this.#inTransaction(() => {
      this.#sql.run(statements.shareUses, toSessionId, fromSessionId);
      this.#sql.run(statements.shareAliases, toSessionId, fromSessionId);
    });
  }

  /** Records content without a name. */
  recordContent(sha256: string, sizeBytes: number, atMs: number): void {
    this.#sql.run(statements.content, sha256, sizeBytes, atMs);
  }

  recordAlias(sha256: string, sizeBytes: number, alias: { name: string; sessionId: string; atMs: number }): void {
    this.#inTransaction(() => {
      this.#sql.run(statements.content, sha256, sizeBytes, alias.atMs);
      this.#sql.run(statements.insertAlias, alias.sessionId, alias.name, sha256);
    });
  }

  sizeBytes(sha256: string): number | null {
    return this.#sql.value<number>('SELECT size_bytes FROM artifacts WHERE sha256 = ?', sha256) ?? null;
  }

  /** Resolves the session's own alias first, otherwise the newest alias of that name in any session. */
  resolveAlias(alias: string, sessionId: string | null): string | null {
    const own = sessionId === null ? undefined : this.#sql.value<string>(statements.bySessionAlias, sessionId, alias);
    return own ?? this.#sql.value<string>(statements.byAlias, alias) ?? null;
  }

  info(sha256: string): ArtifactInfo | null {
    const row = this.#sql.row<InfoRow>(`${SELECT_INFO} WHERE u.sha256 = ? GROUP BY u.sha256`, sha256);
    return row === undefined ? null : this.#toInfo(row);
  }

  sessionsOf(sha256: string): string[] {
    return this.#sql.values<string>('SELECT DISTINCT session_id FROM artifact_uses WHERE sha256 = ? LIMIT 100', sha256);
  }

  list(sessionId: string | null, limit: number): ArtifactInfo[] {
    const rows =
      sessionId === null
        ? this.#sql.rows<InfoRow>(`${SELECT_INFO} ${NEWEST_FIRST}`, limit)
        : this.#sql.rows<InfoRow>(`${SELECT_INFO} WHERE u.session_id = ? ${NEWEST_FIRST}`, sessionId, limit);
    return rows.map((row) => this.#toInfo(row));
  }

  /** Returns a page of content not used since then. Pass the last row of a page to get the next page. */
  unusedSince(beforeMs: number, after: { lastUsedAtMs: number; sha256: string }, limit: number) {
    return this.#sql.rows<UnusedRow>(statements.unusedSince, beforeMs, after.lastUsedAtMs, after.sha256, limit);
  }

  remove(sha256s: readonly string[]): void {
    this.#inTransaction(() => {
      for (const sha256 of sha256s)
        for (const table of ['artifact_aliases', 'artifact_uses', 'artifacts'])
          this.#sql.run(`DELETE FROM ${table} WHERE sha256 = ?`, sha256);
    });
  }

  #toInfo(row: InfoRow): ArtifactInfo {
    return {
      sha256: row.sha256,
      name: row.name,
      mediaType: row.mediaType,
      sizeBytes: row.sizeBytes,
      aliases: this.#sql.values<string>('SELECT DISTINCT alias FROM artifact_aliases WHERE sha256 = ? ORDER BY alias', row.sha256),
      createdAtMs: row.createdAtMs,
      sessionId: row.sessionId === '' ? null : row.sessionId,
      callId: row.callId === '' ? null : row.callId,
    };
  }

  #inTransaction(work: () => void): void {
    this.#db.transaction(work)();
  }
}
