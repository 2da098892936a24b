// Approvals and grants as rows kept in step with their events, and the live grants in memory.

import type { AnyEvent } from '../../contracts/events.ts';
import { approvalSchema, grantSchema, type Approval, type Grant } from '../../contracts/policy.ts';
import { isLive, matches, type GrantableCall } from './grant-match.ts';
import type { SqlDatabase } from '../../store/storage/storage.ts';
import type { Migration } from '../../store/storage/storage.ts';

export const policyMigrations: readonly Migration[] = [
  {
    id: '0003-policy',
    minSafeVersion: 1,
    up: (db) => {
      db.exec(`
        CREATE TABLE IF NOT EXISTS approvals (
          approval_id TEXT PRIMARY KEY, state TEXT NOT NULL, session_id TEXT NOT NULL, call_id TEXT NOT NULL, created_at_ms INTEGER NOT NULL, body TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS approvals_pending ON approvals (created_at_ms) WHERE state = 'pending';
        CREATE TABLE IF NOT EXISTS grants (
          grant_id TEXT PRIMARY KEY, live INTEGER NOT NULL, created_at_ms INTEGER NOT NULL, body TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
      `);
    },
  },
];

const RECENT_MAX = 500;

function prepareAll(db: SqlDatabase) {
  return {
    putApproval: db.prepare(
      'INSERT OR REPLACE INTO approvals (approval_id, state, session_id, call_id, created_at_ms, body) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    approval: db.prepare('SELECT body FROM approvals WHERE approval_id = ?'),
    pending: db.prepare("SELECT body FROM approvals WHERE state = 'pending' ORDER BY created_at_ms, approval_id"),
    recent: db.prepare('SELECT body FROM approvals ORDER BY created_at_ms DESC LIMIT ?'),
    putGrant: db.prepare('INSERT OR REPLACE INTO grants (grant_id, live, created_at_ms, body) VALUES (?, ?, ?, ?)'),
    grant: db.prepare('SELECT body FROM grants WHERE grant_id = ?'),
    liveGrants: db.prepare('SELECT body FROM grants WHERE live = 1 ORDER BY created_at_ms, grant_id'),
    allGrants: db.prepare('SELECT body FROM grants ORDER BY created_at_ms DESC LIMIT ?'),
  };
}

export class PolicyStore {
  readonly #db: SqlDatabase;
  readonly #sql: ReturnType<typeof prepareAll>;
  #live: Grant[] | null = null;

  constructor(db: SqlDatabase) {
    this.#db = db;
    this.#sql = prepareAll(db);
  }

  /** Called for every event inside its transaction. */
  apply(event: AnyEvent): void {
    switch (event.type) {
      case 'approval.requested':
        this.#writeApproval(event.body.approval);
        return;
      case 'approval.decided':
        this.#decide(event.body.approvalId, {
          state: event.body.decision === 'approve' ? 'approved' : event.body.decision === 'deny' ? 'denied' : 'withdrawn',
          decidedAtMs: event.atMs,
          decidedBy: event.body.by,
          scope: event.body.scope,
        });
        return;
      case 'grant.created':
        this.#writeGrant(event.body.grant);
        return;
      case 'grant.spent':
        this.#changeGrant(event.body.grantId, { spentAtMs: event.atMs });
        return;
      case 'grant.revoked':
        this.#changeGrant(event.body.grantId, { revokedAtMs: event.atMs });
        return;
      default:
        return;
    }
  }

  approval(approvalId: string): Approval | null {
    const row = this.#sql.approval.get(approvalId) as { body: string } | undefined;
    return row === undefined ? null : approvalSchema.parse(JSON.parse(row.body));
  }

  pendingApprovals(): Approval[] {
    return (this.#sql.pending.all() as { body: string }[]).map((row) => approvalSchema.parse(JSON.parse(row.body)));
  }

  recentApprovals(): Approval[] {
    return (this.#sql.recent.all(RECENT_MAX) as { body: string }[]).map((row) => approvalSchema.parse(JSON.parse(row.body)));
  }

  grant(grantId: string): Grant | null {
    const row = this.#sql.grant.get(grantId) as { body: string } | undefined;
    return row === undefined ? null : grantSchema.parse(JSON.parse(row.body));
  }

  grants(all: boolean, nowMs: number): Grant[] {
    if (!all) return this.#liveGrants().filter((grant) => isLive(grant, nowMs));
    return (this.#sql.allGrants.all(RECENT_MAX) as { body: string }[]).map((row) => grantSchema.parse(JSON.parse(row.body)));
  }

  /** The grant that covers the call, longest-lived first; null when there is none. */
  findCovering(call: GrantableCall, sessionId: string, nowMs: number): Grant | null {
    const live = this.#liveGrants();
    if (live.length === 0) return null;
    const covering = live.filter((grant) => isLive(grant, nowMs) && reaches(grant, sessionId) && matches(grant.match, call));
    return covering.sort((a, b) => breadth[b.scope.kind] - breadth[a.scope.kind])[0] ?? null;
  }

  #liveGrants(): Grant[] {
    if (this.#live !== null) return this.#live;
    const live = (this.#sql.liveGrants.all() as { body: string }[]).map((row) => grantSchema.parse(JSON.parse(row.body)));
    // What a transaction shows may be rolled back: only what is committed is remembered.
    if (!this.#db.inTransaction) this.#live = live;
    return live;
  }

  #writeApproval(approval: Approval): void {
    this.#sql.putApproval.run(
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
    this.#sql.putGrant.run(grant.grantId, live ? 1 : 0, grant.createdAtMs, JSON.stringify(grant));
    this.#live = null;
  }

  #changeGrant(grantId: string, change: Partial<Grant>): void {
    const grant = this.grant(grantId);
    if (grant !== null) this.#writeGrant({ ...grant, ...change });
  }
}

const breadth = { once: 0, minutes: 1, session: 2, always: 3 } as const;

/** Once and session grants stay in the session they were given in. */
function reaches(grant: Grant, sessionId: string): boolean {
  return grant.scope.kind === 'always' || grant.scope.kind === 'minutes' || grant.sessionId === sessionId;
}
