// Rows kept in step with the log for what survives compaction: the summaries of each session, pending ones, and the rules a person pinned.
// Everything can be rebuilt from the log. Decides nothing.

import type Database from 'better-sqlite3';
import { HeldRows } from '../storage/storage.ts';
import type { PinnedRule } from '../../contracts/context-ops.ts';
import type { RuleScope } from '../../contracts/continuity-events.ts';
import type { AnyEvent, EventOf } from '../../contracts/events.ts';

export const continuityMigrations = [
  {
    id: 'continuity-001-tables',
    minSafeVersion: 1,
    up: (db: Database.Database): void => {
      db.exec(`
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
      `);
    },
  },
];

export interface SummaryJobRow {
  readonly summaryId: string;
  readonly sessionId: string;
}

interface RuleRow {
  readonly ruleId: string;
  readonly owner: string;
  readonly scope: string;
  readonly text: string;
  readonly by: string;
  readonly atMs: number;
}

const ruleColumns = 'rule_id AS ruleId, owner, scope, text, pinned_by AS "by", at_ms AS atMs';

const none: readonly PinnedRule[] = [];

export class ContinuityRows {
  readonly #sql;
  readonly #pinned: HeldRows;
  /** Rules by owner as last read: a pack asks each time. */
  readonly #rules = new Map<string, readonly PinnedRule[]>();

  constructor(db: Database.Database) {
    this.#pinned = new HeldRows(db, 'pinned_rules');
    this.#sql = {
      putSummary: db.prepare('INSERT OR REPLACE INTO summaries (session_id, session_seq, seq) VALUES (?, ?, ?)'),
      lastSummary: db.prepare<[string, number], { seq: number }>(
        'SELECT seq FROM summaries WHERE session_id = ? AND session_seq < ? ORDER BY session_seq DESC LIMIT 1',
      ),
      putJob: db.prepare('INSERT OR REPLACE INTO summary_jobs (summary_id, session_id) VALUES (?, ?)'),
      endJob: db.prepare('DELETE FROM summary_jobs WHERE summary_id = ?'),
      jobs: db.prepare<[], SummaryJobRow>('SELECT summary_id AS summaryId, session_id AS sessionId FROM summary_jobs LIMIT 1000'),
      putRule: db.prepare(
        'INSERT OR REPLACE INTO pinned_rules (rule_id, owner, scope, text, pinned_by, at_ms, seq) VALUES (?, ?, ?, ?, ?, ?, ?)',
      ),
      endRule: db.prepare('DELETE FROM pinned_rules WHERE owner = ? AND rule_id = ?'),
      endRuleAnywhere: db.prepare("DELETE FROM pinned_rules WHERE rule_id = ? AND scope = 'agent'"),
      rulesOf: db.prepare<[string], RuleRow>(`SELECT ${ruleColumns} FROM pinned_rules WHERE owner = ? ORDER BY seq`),
      rules: db.prepare<[], RuleRow>(`SELECT ${ruleColumns} FROM pinned_rules ORDER BY seq LIMIT 10000`),
      ruleById: db.prepare<[string], RuleRow>(`SELECT ${ruleColumns} FROM pinned_rules WHERE rule_id = ? ORDER BY seq LIMIT 1`),
      forgetSummaries: db.prepare('DELETE FROM summaries WHERE session_id = ?'),
      forgetJobs: db.prepare('DELETE FROM summary_jobs WHERE session_id = ?'),
      forgetRules: db.prepare('DELETE FROM pinned_rules WHERE owner = ?'),
    };
  }

  apply(event: AnyEvent): void {
    switch (event.type) {
      case 'summary.started':
        this.#sql.putJob.run(event.body.summaryId, event.sessionId);
        return;
      case 'summary.written':
        this.#sql.endJob.run(event.body.summaryId);
        this.#sql.putSummary.run(event.sessionId, event.sessionSeq, event.seq);
        return;
      case 'summary.failed':
        this.#sql.endJob.run(event.body.summaryId);
        return;
      case 'rule.pinned':
        this.#pin(event);
        return;
      case 'rule.unpinned':
        this.#rules.clear();
        this.#sql.endRule.run(ownerOf('session', event.sessionId), event.body.ruleId);
        this.#sql.endRuleAnywhere.run(event.body.ruleId);
        return;
      case 'session.deleted':
        this.#forget(event.body.sessionId);
        return;
      default:
    }
  }

  /** A fork begins with the summaries and the rules of the session it comes from. */
  applyCopied(event: AnyEvent): void {
    if (event.type === 'summary.written') this.#sql.putSummary.run(event.sessionId, event.sessionSeq, event.seq);
    if (event.type === 'rule.pinned') this.#pin(event);
    if (event.type === 'rule.unpinned') {
      this.#rules.clear();
      this.#sql.endRule.run(ownerOf('session', event.sessionId), event.body.ruleId);
    }
  }

  /** The global place of the newest summary before a place of the session; null for none. */
  lastSummary(sessionId: string, before = Number.MAX_SAFE_INTEGER): number | null {
    return this.#sql.lastSummary.get(sessionId, before)?.seq ?? null;
  }

  /** Summaries that were begun and have no end yet. */
  openJobs(): SummaryJobRow[] {
    return this.#sql.jobs.all();
  }

  /** The rules of a session of an agent, oldest first. The same array as long as nothing changes. */
  rulesFor(sessionId: string, agentId: string): readonly PinnedRule[] {
    const key = `${sessionId}\n${agentId}`;
    const known = this.#rules.get(key);
    if (known !== undefined) return known;
    if (!this.#pinned.any) return none;
    const found = [...this.#sql.rulesOf.all(ownerOf('agent', agentId)), ...this.#sql.rulesOf.all(ownerOf('session', sessionId))].map(shown);
    if (this.#rules.size >= 500) this.#rules.clear();
    this.#rules.set(key, found);
    return found;
  }

  rulesOf(scope: RuleScope, owner: string): PinnedRule[] {
    return this.#sql.rulesOf.all(ownerOf(scope, owner)).map(shown);
  }

  rules(): PinnedRule[] {
    return this.#sql.rules.all().map(shown);
  }

  rule(ruleId: string): PinnedRule | null {
    const row = this.#sql.ruleById.get(ruleId);
    return row === undefined ? null : shown(row);
  }

  #pin({ seq, atMs, sessionId, body }: EventOf<'rule.pinned'>): void {
    this.#rules.clear();
    const { ruleId, scope, text, by, agentId } = body;
    const owner = scope === 'agent' ? ownerOf('agent', agentId ?? '') : ownerOf('session', sessionId);
    this.#pinned.put();
    this.#sql.putRule.run(ruleId, owner, scope, text, by, atMs, seq);
  }

  #forget(sessionId: string): void {
    this.#rules.clear();
    this.#sql.forgetSummaries.run(sessionId);
    this.#sql.forgetJobs.run(sessionId);
    this.#sql.forgetRules.run(ownerOf('session', sessionId));
  }
}

/** Sessions and agents may have the same name. */
function ownerOf(scope: RuleScope, id: string): string {
  return `${scope}:${id}`;
}

function shown({ owner, scope, ...row }: RuleRow): PinnedRule {
  return { ...row, scope: scope as RuleScope, owner: owner.slice(scope.length + 1) };
}
