// Stores approvals and grants as rows kept in step with their events, and caches the live grants in memory.

import type * as z from 'zod';
import { parseJson } from '../../base/json.ts';
import { answerOf } from '../../contracts/approval-answer.ts';
import { byType } from '../../contracts/event-table.ts';
import { approvalSchema, configApprovalId, grantSchema, type Approval, type Grant, type GrantListing } from '../../contracts/policy.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import { unseenSources } from './call-taint.ts';
import { isLive, matches, matchesButChanged, type GrantableCall } from './grant-match.ts';
import { isOfConfig } from './pre-approved.ts';
import type { PermittingRows } from '../../store/session/session.ts';
import { HeldRows, sqlMigrations, Statements, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const policyMigrations: readonly Migration[] = sqlMigrations({
  '0003-policy': `
        CREATE TABLE IF NOT EXISTS approvals (
          approval_id TEXT PRIMARY KEY, state TEXT NOT NULL, session_id TEXT NOT NULL, call_id TEXT NOT NULL, created_at_ms INTEGER NOT NULL, body TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS approvals_pending ON approvals (created_at_ms) WHERE state = 'pending';
        CREATE TABLE IF NOT EXISTS grants (
          grant_id TEXT PRIMARY KEY, live INTEGER NOT NULL, created_at_ms INTEGER NOT NULL, body TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
      `,
  '0003-policy-uses': `
        CREATE TABLE IF NOT EXISTS grant_uses (grant_id TEXT PRIMARY KEY, uses INTEGER NOT NULL, last_at_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      `,
  '0003-policy-written': (db) => {
    db.exec(`
        -- What the agent wrote, in any session; kept when the session is deleted.
        CREATE TABLE IF NOT EXISTS written_files (path TEXT PRIMARY KEY, at_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS written_files_by_time ON written_files (at_ms);
      `);
    const has = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'checkpoint_files'").get() !== undefined;
    if (!has) return;
    db.exec(`
        INSERT OR IGNORE INTO written_files (path, at_ms)
          SELECT f.path, max(c.at_ms) FROM checkpoint_files f JOIN checkpoints c USING (seq) GROUP BY f.path;
      `);
  },
});

const RECENT_MAX = 500;

/** The time and session of a call, and the untrusted sources it may follow. */
export interface GrantMoment {
  readonly sessionId: string;
  readonly nowMs: number;
  readonly derived: readonly TaintSource[];
  /** If set, only this grant counts; null means that no grant counts. */
  readonly only?: string | null;
  /** True for a grave call: grants for more than one call do not count, however old. */
  readonly onlyOnce: boolean;
}

const statements = {
  putApproval: 'INSERT OR REPLACE INTO approvals (approval_id, state, session_id, call_id, created_at_ms, body) VALUES (?, ?, ?, ?, ?, ?)',
  pending: "SELECT body FROM approvals WHERE state = 'pending' ORDER BY created_at_ms, approval_id",
  recent: 'SELECT body FROM approvals ORDER BY created_at_ms DESC LIMIT ?',
  putGrant: 'INSERT OR REPLACE INTO grants (grant_id, live, created_at_ms, body) VALUES (?, ?, ?, ?)',
  liveGrants: 'SELECT body FROM grants WHERE live = 1 ORDER BY created_at_ms, grant_id',
  allGrants: 'SELECT body FROM grants ORDER BY created_at_ms DESC LIMIT ?',
  configGrants:
    "SELECT body FROM grants WHERE json_valid(body) AND json_extract(body, '$.approvalId') = ? ORDER BY created_at_ms, grant_id",
  putUse: `INSERT INTO grant_uses (grant_id, uses, last_at_ms) VALUES (?, 1, ?)
     ON CONFLICT (grant_id) DO UPDATE SET uses = uses + 1, last_at_ms = excluded.last_at_ms`,
  putWritten: 'INSERT INTO written_files (path, at_ms) VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET at_ms = max(at_ms, excluded.at_ms)',
  use: 'SELECT uses, last_at_ms AS lastAtMs FROM grant_uses WHERE grant_id = ?',
};

export class PolicyStore {
  readonly #db: SqlDatabase;
  readonly #sql: Statements;
  readonly #asked: HeldRows;
  #live: Grant[] | null = null;
  #config: readonly Grant[] | null = null;

  readonly permits: readonly PermittingRows[] = [
    {
      what: 'The grant',
      rows: '(SELECT * FROM grants WHERE live = 1)',
      key: 'grant_id',
      value: 'body',
      events: ['grant.created', 'grant.spent', 'grant.revoked'],
      keyInBody: "coalesce(json_extract(body, '$.grant.grantId'), json_extract(body, '$.grantId'))",
      valueInBody: "json_extract(body, '$.grant')",
      sessions: "SELECT json_extract(body, '$.sessionId') FROM grants WHERE live = 1 AND json_valid(body)",
      undo: 'trayclaw grants revoke KEY',
    },
    {
      what: 'The approval',
      rows: "(SELECT * FROM approvals WHERE state = 'pending')",
      key: 'approval_id',
      value: 'body',
      events: ['approval.requested'],
      keyInBody: "json_extract(body, '$.approval.approvalId')",
      valueInBody: "json_extract(body, '$.approval')",
      sessions: "SELECT session_id FROM approvals WHERE state = 'pending'",
      undo: 'trayclaw approvals deny KEY, or cancel the turn that waits for it',
    },
  ];

  readonly apply = byType({
    'approval.requested': ({ body }) => this.#writeApproval(body.approval),
    'approval.decided': (event) => this.#decide(event.body.approvalId, answerOf(event)),
    'grant.created': ({ body }) => this.#writeGrant(body.grant),
    'grant.spent': ({ body, atMs }) => this.#changeGrant(body.grantId, { spentAtMs: atMs }),
    'grant.revoked': ({ body, atMs }) => this.#changeGrant(body.grantId, { revokedAtMs: atMs }),
    'checkpoint.taken': ({ body, atMs }) => {
      for (const { path } of body.files) this.#sql.run(statements.putWritten, path, atMs);
    },
    'tool.requested': ({ body, atMs }) => {
      if (body.grantId !== null) this.#sql.run(statements.putUse, body.grantId, atMs);
    },
  });

  constructor(db: SqlDatabase) {
    this.#db = db;
    this.#sql = new Statements(db);
    this.#asked = new HeldRows(db, 'approvals');
  }

  approval(approvalId: string): Approval | null {
    const row = this.#sql.row<{ body: string }>('SELECT body FROM approvals WHERE approval_id = ?', approvalId);
    return readRows(approvalSchema, row === undefined ? [] : [row])[0] ?? null;
  }

  pendingApprovals(): Approval[] {
    if (!this.#asked.any) return [];
    return readRows(approvalSchema, this.#sql.rows(statements.pending));
  }

  recentApprovals(): Approval[] {
    return readRows(approvalSchema, this.#sql.rows(statements.recent, RECENT_MAX));
  }

  grant(grantId: string): Grant | null {
    const live = this.#live?.find((grant) => grant.grantId === grantId);
    if (live !== undefined) return live;
    const row = this.#sql.row<{ body: string }>('SELECT body FROM grants WHERE grant_id = ?', grantId);
    return readRows(grantSchema, row === undefined ? [] : [row])[0] ?? null;
  }

  grants(all: boolean, nowMs: number): Grant[] {
    if (!all) return this.#liveGrants().filter((grant) => isLive(grant, nowMs));
    return readRows(grantSchema, this.#sql.rows(statements.allGrants, RECENT_MAX));
  }

  /** Includes how often each grant was used, and when it was last used. */
  listGrants(all: boolean, nowMs: number): GrantListing[] {
    return this.grants(all, nowMs).map((grant) => {
      const use = this.#sql.row<{ uses: number; lastAtMs: number }>(statements.use, grant.grantId);
      return { ...grant, uses: use?.uses ?? 0, lastUsedAtMs: use?.lastAtMs ?? null };
    });
  }

  /**
   * Returns the longest-lived grant that covers the call, and the sources of the call it was not given for. Returns null if no grant covers
   * it.
   */
  findCovering(call: GrantableCall, at: GrantMoment): { readonly grant: Grant; readonly unseen: readonly TaintSource[] } | null {
    const covering = this.#reaching(at)
      .filter((grant) => matches(grant.match, call))
      .map((grant) => ({ grant, unseen: unseenSources(at.derived, grant.seenTaint ?? []) }));
    const best = covering.sort((a, b) => a.unseen.length - b.unseen.length || breadth[b.grant.scope.kind] - breadth[a.grant.scope.kind]);
    return best[0] ?? null;
  }

  /** Returns a grant that would cover the command if its bindings had not changed. */
  findOutdated(call: GrantableCall, at: GrantMoment): Grant | null {
    return this.#reaching(at).find((grant) => matchesButChanged(grant.match, call)) ?? null;
  }

  /** The bindings of commands that config.yaml allows, from their first runs. Includes revoked grants. */
  configGrants(): readonly Grant[] {
    if (this.#config !== null) return this.#config;
    const grants = readRows(grantSchema, this.#sql.rows(statements.configGrants, configApprovalId));
    if (!this.#db.inTransaction) this.#config = grants;
    return grants;
  }

  /** Folders a person trusts as workspaces. */
  trustedWorkspaces(): readonly Grant[] {
    return this.#liveGrants().filter((grant) => grant.match.kind === 'workspace');
  }

  /** When the agent last wrote this file, in any session; null if never. Does not include writes by commands. */
  writtenAtMs(path: string): number | null {
    return this.#sql.value<number>('SELECT at_ms FROM written_files WHERE path = ?', path) ?? null;
  }

  /** When the agent last wrote any file. */
  lastWrittenAtMs(): number | null {
    return this.#sql.value('SELECT max(at_ms) FROM written_files') as number | null;
  }

  #reaching({ sessionId, nowMs, only, onlyOnce }: GrantMoment): Grant[] {
    const live = this.#liveGrants();
    if (live.length === 0) return [];
    const counts = (grant: Grant): boolean => (only === undefined || grant.grantId === only) && (!onlyOnce || grant.scope.kind === 'once');
    // Grants from config.yaml are valid only while their entry exists, so they are checked elsewhere.
    return live.filter((grant) => counts(grant) && !isOfConfig(grant) && isLive(grant, nowMs) && reaches(grant, sessionId));
  }

  #liveGrants(): Grant[] {
    if (this.#live !== null) return this.#live;
    const live = readRows(grantSchema, this.#sql.rows(statements.liveGrants));
    // A transaction may be rolled back, so only committed rows are cached.
    if (!this.#db.inTransaction) this.#live = live;
    return live;
  }

  #writeApproval(approval: Approval): void {
    this.#asked.put();
    this.#sql.run(
      statements.putApproval,
      approval.approvalId,
      approval.state,
      approval.sessionId,
      approval.callId,
      approval.createdAtMs,
      JSON.stringify(approval),
    );
  }

  #decide(approvalId: string, change: Partial<Approval>): void {
    const approval = this.approval(approvalId);
    if (approval !== null) this.#writeApproval({ ...approval, ...change });
  }

  #writeGrant(grant: Grant): void {
    const live = grant.revokedAtMs === null && grant.spentAtMs === null;
    this.#sql.run(statements.putGrant, grant.grantId, live ? 1 : 0, grant.createdAtMs, JSON.stringify(grant));
    this.#live = null;
    this.#config = null;
  }

  #changeGrant(grantId: string, change: Partial<Grant>): void {
    const grant = this.grant(grantId);
    if (grant !== null) this.#writeGrant({ ...grant, ...change });
  }
}

/** Leaves out rows that cannot be read. Such a grant permits nothing; the audit names it. */
function readRows<T>(schema: z.ZodType<T>, rows: readonly { readonly body: string }[]): T[] {
  return rows.flatMap(({ body }) => {
    const value = parseJson(body);
    const read = schema.safeParse(value.ok ? value.value : undefined);
    return read.success ? [read.data] : [];
  });
}

const breadth = { once: 0, minutes: 1, session: 2, always: 3 } as const;

/** Grants with the scopes once and session are valid only in the session they were given in. */
export function reaches(grant: Grant, sessionId: string): boolean {
  return grant.scope.kind === 'always' || grant.scope.kind === 'minutes' || grant.sessionId === sessionId;
}
