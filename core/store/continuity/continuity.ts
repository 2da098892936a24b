// Rows kept in step with the log for data that survives compaction: the summaries of each session, pending summaries, and the rules a
// person pinned. Everything can be rebuilt from the log. Decides nothing.

import type Database from 'better-sqlite3';
import { HeldRows, Statements, sqlMigrations } from '../storage/storage.ts';
import type { PinnedRule } from '../../contracts/context-ops.ts';
import type { RuleScope } from '../../contracts/continuity-events.ts';
import { applyByType, type Changes } from '../../contracts/event-table.ts';
import type { AnyEvent, EventOf } from '../../contracts/events.ts';

export const continuityMigrations = sqlMigrations({
  'continuity-001-tables': `
    CREATE TABLE IF NOT EXISTS summaries (
      session_id TEXT NOT NULL,
      session_seq INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (session_id, session_seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS summary_jobs (
      summary_id TEXT PRIMARY KEY,
      session_id TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS pinned_rules (
      rule_id TEXT NOT NULL,
      owner TEXT NOT NULL,
      scope TEXT NOT NULL,
      text TEXT NOT NULL,
      pinned_by TEXT NOT NULL,
      at_ms INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (owner, rule_id)
    ) STRICT, WITHOUT ROWID;
  `,
});

export interface SummaryJobRow {
  readonly summaryId: string;
  readonly sessionId: string;
}

const ruleColumns = 'rule_id AS ruleId, owner, scope, text, pinned_by AS "by", at_ms AS atMs';

const none: readonly PinnedRule[] = [];

const statements = {
  putSummary: 'INSERT OR REPLACE INTO summaries (session_id, session_seq, seq) VALUES (?, ?, ?)',
  lastSummary: 'SELECT seq FROM summaries WHERE session_id = ? AND session_seq < ? ORDER BY session_seq DESC LIMIT 1',
  putJob: 'INSERT OR REPLACE INTO summary_jobs (summary_id, session_id) VALUES (?, ?)',
  endJob: 'DELETE FROM summary_jobs WHERE summary_id = ?',
  putRule: 'INSERT OR REPLACE INTO pinned_rules (rule_id, owner, scope, text, pinned_by, at_ms, seq) VALUES (?, ?, ?, ?, ?, ?, ?)',
  endRule: 'DELETE FROM pinned_rules WHERE owner = ? AND rule_id = ?',
  rulesOf: `SELECT ${ruleColumns} FROM pinned_rules WHERE owner = ? ORDER BY seq`,
};

export class ContinuityRows {
  readonly #db: Database.Database;
  readonly #sql: Statements;
  readonly #pinned: HeldRows;
  /** Cached rules by owner, because every context pack reads them. */
  readonly #rules = new Map<string, readonly PinnedRule[]>();

  readonly #changes: Changes = {
    'summary.started': ({ body, sessionId }) => void this.#sql.run(statements.putJob, body.summaryId, sessionId),
    'summary.written': ({ body, sessionId, sessionSeq, seq }) => {
      this.#sql.run(statements.endJob, body.summaryId);
      this.#sql.run(statements.putSummary, sessionId, sessionSeq, seq);
    },
    'summary.failed': ({ body }) => void this.#sql.run(statements.endJob, body.summaryId),
    'rule.pinned': (event) => this.#pin(event),
    'rule.unpinned': ({ body, sessionId }) => {
      this.#rules.clear();
      this.#sql.run(statements.endRule, ownerOf('session', sessionId), body.ruleId);
      this.#sql.run("DELETE FROM pinned_rules WHERE rule_id = ? AND scope = 'agent'", body.ruleId);
    },
    'session.deleted': ({ body }) => this.#forget(body.sessionId),
  };

  constructor(db: Database.Database) {
    this.#db = db;
    this.#pinned = new HeldRows(db, 'pinned_rules');
    this.#sql = new Statements(db);
  }

  apply(event: AnyEvent): void {
    applyByType(this.#changes, event);
  }

  /** A fork starts with the summaries and rules of its original. */
  applyCopied(event: AnyEvent): void {
    if (event.type === 'summary.written') this.#sql.run(statements.putSummary, event.sessionId, event.sessionSeq, event.seq);
    if (event.type === 'rule.pinned') this.#pin(event);
    if (event.type === 'rule.unpinned') {
      this.#rules.clear();
      this.#sql.run(statements.endRule, ownerOf('session', event.sessionId), event.body.ruleId);
    }
  }

  /** Returns the global position of the newest summary before a position of the session, or null if there is none. */
  lastSummary(sessionId: string, before = Number.MAX_SAFE_INTEGER): number | null {
    return this.#sql.row<{ seq: number }>(statements.lastSummary, sessionId, before)?.seq ?? null;
  }

  /** Summaries that were started and have not ended. */
  openJobs(): SummaryJobRow[] {
    return this.#sql.rows<SummaryJobRow>('SELECT summary_id AS summaryId, session_id AS sessionId FROM summary_jobs LIMIT 1000');
  }

  /** Returns the rules of a session and its agent, oldest first. The same array while nothing changes. */
  rulesFor(sessionId: string, agentId: string): readonly PinnedRule[] {
    const key = `${sessionId}\n${agentId}`;
    const known = this.#rules.get(key);
    if (known !== undefined) return known;
    if (!this.#pinned.any) return none;
    const found = [...this.rulesOf('agent', agentId), ...this.rulesOf('session', sessionId)];
    // A transaction that is rolled back takes its rows with it, so what is read in one is not cached.
    if (this.#db.inTransaction) return found;
    if (this.#rules.size >= 500) this.#rules.clear();
    this.#rules.set(key, found);
    return found;
  }

  rulesOf(scope: RuleScope, owner: string): PinnedRule[] {
    return this.#sql.rows<PinnedRule>(statements.rulesOf, ownerOf(scope, owner)).map(shown);
  }

  rules(): PinnedRule[] {
    return this.#sql.rows<PinnedRule>(`SELECT ${ruleColumns} FROM pinned_rules ORDER BY seq LIMIT 10000`).map(shown);
  }

  rule(ruleId: string): PinnedRule | null {
    const row = this.#sql.row<PinnedRule>(`SELECT ${ruleColumns} FROM pinned_rules WHERE rule_id = ? ORDER BY seq LIMIT 1`, ruleId);
    return row === undefined ? null : shown(row);
  }

  #pin({ seq, atMs, sessionId, body }: EventOf<'rule.pinned'>): void {
    this.#rules.clear();
    const { ruleId, scope, text, by, agentId } = body;
    const owner = scope === 'agent' ? ownerOf('agent', agentId ?? '') : ownerOf('session', sessionId);
    this.#pinned.put();
    this.#sql.run(statements.putRule, ruleId, owner, scope, text, by, atMs, seq);
  }

  #forget(sessionId: string): void {
    this.#rules.clear();
    this.#sql.run('DELETE FROM summaries WHERE session_id = ?', sessionId);
    this.#sql.run('DELETE FROM summary_jobs WHERE session_id = ?', sessionId);
    this.#sql.run('DELETE FROM pinned_rules WHERE owner = ?', ownerOf('session', sessionId));
  }
}

/** The prefix is needed because sessions and agents may have the same id. */
function ownerOf(scope: RuleScope, id: string): string {
  return `${scope}:${id}`;
}

function shown(row: PinnedRule): PinnedRule {
  return { ...row, owner: row.owner.slice(row.scope.length + 1) };
}
