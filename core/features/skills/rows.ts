// The person's decisions about skills, and the skills opened in each turn, as rows derived from the log. Decides nothing.

import { byType } from '../../contracts/event-table.ts';
import type { SkillTrustTarget } from '../../contracts/features/skills.ts';
import type { PermittingRows } from '../../store/session/session.ts';
import { Statements, sqlMigrations, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const skillMigrations: readonly Migration[] = sqlMigrations({
  'skill-001-tables': `
    -- A path has one trust: of the folder (no hash), or of one content.
    CREATE TABLE IF NOT EXISTS skill_trust (path TEXT PRIMARY KEY, kind TEXT NOT NULL, sha256 TEXT) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS skill_disabled (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS skill_opened (
      turn_id TEXT NOT NULL, name TEXT NOT NULL, session_id TEXT NOT NULL, depth INTEGER NOT NULL, call_id TEXT, PRIMARY KEY (turn_id, name)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS skill_opened_session ON skill_opened (session_id);
  `,
  'skill-002-reads':
    'CREATE TABLE IF NOT EXISTS skill_reads (folder TEXT PRIMARY KEY, seen TEXT NOT NULL, read TEXT NOT NULL, sha256 TEXT) STRICT, WITHOUT ROWID',
});

/** One cached read of a skill; see skill-reads.ts. */
export interface KeptRead {
  readonly folder: string;
  readonly seen: string;
  readonly read: string;
  readonly sha256: string | null;
}

export interface OpenedSkill {
  readonly name: string;
  readonly depth: number;
  /** The call that opened the skill. */
  readonly callId: string | null;
}

const statements = {
  trust:
    'INSERT INTO skill_trust (path, kind, sha256) VALUES (?, ?, ?) ON CONFLICT (path) DO UPDATE SET kind = excluded.kind, sha256 = excluded.sha256',
  open: 'INSERT OR IGNORE INTO skill_opened (turn_id, name, session_id, depth, call_id) VALUES (?, ?, ?, ?, ?)',
  opened: 'SELECT name, depth, call_id AS callId FROM skill_opened WHERE turn_id = ? ORDER BY depth, name',
  keep: 'INSERT OR REPLACE INTO skill_reads (folder, seen, read, sha256) VALUES (?, ?, ?, ?)',
};

export interface Trusts {
  /** The hash of the trusted content, by the folder of the skill. */
  readonly contents: ReadonlyMap<string, string>;
  readonly folders: readonly string[];
}

export class SkillRows {
  readonly #db: SqlDatabase;
  readonly #sql: Statements;
  /** Trust decisions, which every use checks. Cached, and reread after a change. */
  #trusted: readonly SkillTrustTarget[] | null = null;
  #trusts: Trusts | null = null;
  #disabled: ReadonlySet<string> | null = null;

  readonly permits = {
    what: 'The trust in the skill at',
    rows: 'skill_trust',
    key: 'path',
    value: "kind || coalesce(sha256, '')",
    events: ['skill.trusted'],
    keyInBody: "json_extract(body, '$.target.path')",
    valueInBody:
      "CASE json_extract(body, '$.trusted') WHEN 1 THEN json_extract(body, '$.target.kind') || coalesce(json_extract(body, '$.target.sha256'), '') END",
    undo: 'trayclaw skills trust --revoke, with the name of the skill',
  } satisfies PermittingRows;

  readonly apply = byType({
    'skill.trusted': ({ body: { target, trusted } }) => {
      if (trusted) this.#sql.run(statements.trust, target.path, target.kind, target.kind === 'content' ? target.sha256 : null);
      else this.#sql.run('DELETE FROM skill_trust WHERE path = ?', target.path);
      this.#trusted = null;
      this.#trusts = null;
    },
    'skill.configured': ({ body: { name, enabled } }) => {
      if (enabled) this.#sql.run('DELETE FROM skill_disabled WHERE name = ?', name);
      else this.#sql.run('INSERT OR IGNORE INTO skill_disabled (name) VALUES (?)', name);
      this.#disabled = null;
    },
    'skill.expanded': ({ body: { name, depth, callId, file }, sessionId, turnId }) => {
      if (turnId !== null && file === null) this.#sql.run(statements.open, turnId, name, sessionId, depth, callId);
    },
    'session.deleted': ({ body }) => void this.#sql.run('DELETE FROM skill_opened WHERE session_id = ?', body.sessionId),
  });

  constructor(db: SqlDatabase) {
    this.#db = db;
    this.#sql = new Statements(db);
  }

  get trusted(): readonly SkillTrustTarget[] {
    this.#trusted ??= this.#sql.rows<SkillTrustTarget>('SELECT path, kind, sha256 FROM skill_trust ORDER BY path');
    return this.#trusted;
  }

  get trusts(): Trusts {
    this.#trusts ??= {
      contents: new Map(this.trusted.flatMap((target) => (target.kind === 'content' ? [[target.path, target.sha256] as const] : []))),
      folders: this.trusted.flatMap((target) => (target.kind === 'folder' ? [target.path] : [])),
    };
    return this.#trusts;
  }

  reads(): readonly KeptRead[] {
    return this.#sql.rows<KeptRead>('SELECT folder, seen, read, sha256 FROM skill_reads');
  }

  keepReads(put: readonly KeptRead[], dropped: readonly string[]): void {
    this.#db.transaction(() => {
      for (const folder of dropped) this.#sql.run('DELETE FROM skill_reads WHERE folder = ?', folder);
      for (const { folder, seen, read, sha256 } of put) this.#sql.run(statements.keep, folder, seen, read, sha256);
    })();
  }

  get disabled(): ReadonlySet<string> {
    this.#disabled ??= new Set(this.#sql.values<string>('SELECT name FROM skill_disabled'));
    return this.#disabled;
  }

  openedIn(turnId: string): readonly OpenedSkill[] {
    return this.#sql.rows<OpenedSkill>(statements.opened, turnId);
  }

  /** The turns that opened the skill, newest first. */
  turnsWith(name: string): readonly string[] {
    return this.#sql.values<string>('SELECT turn_id FROM skill_opened WHERE name = ? ORDER BY turn_id DESC LIMIT 100', name);
  }
}
