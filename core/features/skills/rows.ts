// The person's decisions about skills, and which were opened in a turn: rows kept in step with the log. Decides nothing.

import type { AnyEvent } from '../../contracts/events.ts';
import type { SkillTrustTarget } from '../../contracts/features/skills.ts';
import type { Migration, SqlDatabase } from '../../store/storage/storage.ts';

export const skillMigrations: readonly Migration[] = [
  {
    id: 'skill-001-tables',
    minSafeVersion: 1,
    up: (db) => {
      db.exec(`
        -- A path has one trust: of the folder (no hash), or of one content.
        CREATE TABLE IF NOT EXISTS skill_trust (path TEXT PRIMARY KEY, kind TEXT NOT NULL, sha256 TEXT) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS skill_disabled (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS skill_opened (
          turn_id TEXT NOT NULL, name TEXT NOT NULL, session_id TEXT NOT NULL, depth INTEGER NOT NULL, call_id TEXT, PRIMARY KEY (turn_id, name)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS skill_opened_session ON skill_opened (session_id);
      `);
    },
  },
  {
    id: 'skill-002-reads',
    minSafeVersion: 1,
    up: (db) => {
      db.exec(
        'CREATE TABLE IF NOT EXISTS skill_reads (folder TEXT PRIMARY KEY, seen TEXT NOT NULL, read TEXT NOT NULL, sha256 TEXT) STRICT, WITHOUT ROWID',
      );
    },
  },
];

/** One row of a cache, see skill-reads.ts. */
export interface KeptRead {
  readonly folder: string;
  readonly seen: string;
  readonly read: string;
  readonly sha256: string | null;
}

export interface OpenedSkill {
  readonly name: string;
  readonly depth: number;
  /** The call that opened it. */
  readonly callId: string | null;
}

function prepareAll(db: SqlDatabase) {
  return {
    trust: db.prepare(
      'INSERT INTO skill_trust (path, kind, sha256) VALUES (?, ?, ?) ON CONFLICT (path) DO UPDATE SET kind = excluded.kind, sha256 = excluded.sha256',
    ),
    distrust: db.prepare('DELETE FROM skill_trust WHERE path = ?'),
    trusted: db.prepare('SELECT path, kind, sha256 FROM skill_trust ORDER BY path'),
    disable: db.prepare('INSERT OR IGNORE INTO skill_disabled (name) VALUES (?)'),
    enable: db.prepare('DELETE FROM skill_disabled WHERE name = ?'),
    disabled: db.prepare('SELECT name FROM skill_disabled').pluck(),
    open: db.prepare('INSERT OR IGNORE INTO skill_opened (turn_id, name, session_id, depth, call_id) VALUES (?, ?, ?, ?, ?)'),
    opened: db.prepare('SELECT name, depth, call_id AS callId FROM skill_opened WHERE turn_id = ? ORDER BY depth, name'),
    turns: db.prepare('SELECT turn_id FROM skill_opened WHERE name = ? ORDER BY turn_id DESC LIMIT 100').pluck(),
    reads: db.prepare('SELECT folder, seen, read, sha256 FROM skill_reads'),
    keep: db.prepare('INSERT OR REPLACE INTO skill_reads (folder, seen, read, sha256) VALUES (?, ?, ?, ?)'),
    drop: db.prepare('DELETE FROM skill_reads WHERE folder = ?'),
    forget: db.prepare('DELETE FROM skill_opened WHERE session_id = ?'),
  };
}

export interface Trusts {
  /** The hash of the trusted content, by folder of a skill. */
  readonly contents: ReadonlyMap<string, string>;
  readonly folders: readonly string[];
}

export class SkillRows {
  readonly #db: SqlDatabase;
  readonly #sql: ReturnType<typeof prepareAll>;
  /** Trust decisions, checked at each use; reread after a change. */
  #trusted: readonly SkillTrustTarget[] | null = null;
  #trusts: Trusts | null = null;
  #disabled: ReadonlySet<string> | null = null;

  constructor(db: SqlDatabase) {
    this.#db = db;
    this.#sql = prepareAll(db);
  }

  apply(event: AnyEvent): void {
    switch (event.type) {
      case 'skill.trusted': {
        const { target, trusted } = event.body;
        if (trusted) this.#sql.trust.run(target.path, target.kind, target.kind === 'content' ? target.sha256 : null);
        else this.#sql.distrust.run(target.path);
        this.#trusted = null;
        this.#trusts = null;
        return;
      }
      case 'skill.configured':
        (event.body.enabled ? this.#sql.enable : this.#sql.disable).run(event.body.name);
        this.#disabled = null;
        return;
      case 'skill.expanded':
        if (event.turnId !== null && event.body.file === null) {
          const { name, depth, callId } = event.body;
          this.#sql.open.run(event.turnId, name, event.sessionId, depth, callId);
        }
        return;
      case 'session.deleted':
        this.#sql.forget.run(event.body.sessionId);
        return;
      default:
    }
  }

  get trusted(): readonly SkillTrustTarget[] {
    this.#trusted ??= this.#sql.trusted.all() as SkillTrustTarget[];
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
    return this.#sql.reads.all() as KeptRead[];
  }

  keepReads(put: readonly KeptRead[], dropped: readonly string[]): void {
    this.#db.transaction(() => {
      for (const folder of dropped) this.#sql.drop.run(folder);
      for (const { folder, seen, read, sha256 } of put) this.#sql.keep.run(folder, seen, read, sha256);
    })();
  }

  get disabled(): ReadonlySet<string> {
    this.#disabled ??= new Set(this.#sql.disabled.all() as string[]);
    return this.#disabled;
  }

  openedIn(turnId: string): readonly OpenedSkill[] {
    return this.#sql.opened.all(turnId) as OpenedSkill[];
  }

  /** Turns that opened it, the newest first. */
  turnsWith(name: string): readonly string[] {
    return this.#sql.turns.all(name) as string[];
  }
}
