// Approvals, grants and unknown outcomes across all sessions: everything that waits for a person. Derived from events; decisions are sent
// through operations.

import { answerOf } from '../../../core/contracts/approval-answer.ts';
import type { AnyEvent, EventOf } from '../../../core/contracts/events.ts';
import type { OpResult } from '../../../core/contracts/ops.ts';
import type { Approval, Grant, GrantListing, GrantMatch, GrantScope } from '../../../core/contracts/policy.ts';
import type { OpClient } from '../client.ts';

export type UnknownOutcome = OpResult<'outcome.list'>['outcomes'][number];
export type SettleAnswer = 'done' | 'retry' | 'abandon';

/** A grant given while the window is open has no uses yet. */
export type KnownGrant = Grant & Partial<GrantListing>;
export type GrantPreview = OpResult<'grant.preview'>;

/** An answer may have a wider scope than one call, a note with a denial, or arguments that the person changed. */
export interface ApprovalGiven {
  readonly scope?: GrantScope;
  readonly choice?: number;
  readonly reason?: string;
  readonly args?: Record<string, unknown>;
}

const previewDays = 30;
/** The maximum number of events kept while an answer is in flight. */
const meanwhileMax = 10_000;

/** Several can be created in the same millisecond; then their ids determine the order. */
function newestFirst(a: Approval, b: Approval): number {
  return b.createdAtMs - a.createdAtMs || (a.approvalId < b.approvalId ? 1 : -1);
}

export class Approvals {
  byId = $state<Record<string, Approval>>({});
  grantsById = $state<Record<string, KnownGrant>>({});
  outcomes = $state.raw<readonly UnknownOutcome[]>([]);
  /** Whether everything was read, with past decisions and grants. */
  hasAll = $state(false);
  readonly #client: OpClient;
  /** For each answer in flight, the events since it was requested. */
  readonly #meanwhile = new Set<AnyEvent[]>();

  readonly all = $derived(Object.values(this.byId).toSorted(newestFirst));
  /** In the order in which they were created. */
  readonly pending = $derived(this.all.filter((approval) => approval.state === 'pending').toReversed());
  readonly decided = $derived(this.all.filter((approval) => approval.state !== 'pending'));
  readonly grants = $derived(Object.values(this.grantsById).toSorted((a, b) => b.createdAtMs - a.createdAtMs));
  readonly waitingCount = $derived(this.pending.length + this.outcomes.length);

  constructor(client: OpClient) {
    this.#client = client;
  }

  async load(): Promise<void> {
    const asked = Promise.all([this.#client.op('approval.list', {}), this.#client.op('outcome.list', {})]);
    await this.#show(asked, ([{ approvals }, { outcomes }]) => {
      const decided = Object.entries(this.byId).filter(([, approval]) => approval.state !== 'pending');
      this.byId = { ...Object.fromEntries(decided), ...Object.fromEntries(approvals.map((approval) => [approval.approvalId, approval])) };
      this.outcomes = outcomes;
    });
  }

  /** Loads decided approvals and grants as well. */
  async loadAll(): Promise<void> {
    const asked = Promise.all([
      this.#client.op('approval.list', { all: true }),
      this.#client.op('grant.list', { all: true }),
      this.#client.op('outcome.list', {}),
    ]);
    await this.#show(asked, ([{ approvals }, { grants }, { outcomes }]) => {
      this.outcomes = outcomes;
      this.byId = Object.fromEntries(approvals.map((approval) => [approval.approvalId, approval]));
      this.grantsById = Object.fromEntries(grants.map((grant) => [grant.grantId, grant]));
      this.hasAll = true;
    });
  }

  /** The answer may be older than events that arrived while it was in flight, so these are applied to it. */
  async #show<T>(asked: Promise<T>, show: (answer: T) => void): Promise<void> {
    const meanwhile: AnyEvent[] = [];
    this.#meanwhile.add(meanwhile);
    try {
      show(await asked);
      for (const event of meanwhile) if (!this.#holds(event)) this.#apply(event);
    } finally {
      this.#meanwhile.delete(meanwhile);
    }
  }

  /** Whether an event was already applied; only for events that would change something if applied twice. */
  #holds(event: AnyEvent): boolean {
    if (event.type === 'approval.requested') return event.body.approval.approvalId in this.byId;
    if (event.type === 'grant.created') return event.body.grant.grantId in this.grantsById;
    if (event.type === 'tool.requested') return (this.grantsById[event.body.grantId ?? '']?.lastUsedAtMs ?? 0) >= event.atMs;
    return false;
  }

  async decide(approvalId: string, decision: 'approve' | 'deny', given: ApprovalGiven = {}): Promise<void> {
    this.byId[approvalId] = await this.#client.op('approval.decide', { approvalId, decision, ...given });
  }

  /** Answers those of them that still wait: an answer may withdraw others, such as those of a turn that it ends. */
  async decideEach(which: readonly Approval[], decision: 'approve' | 'deny', given: ApprovalGiven = {}): Promise<void> {
    for (const { approvalId } of which) {
      if (this.byId[approvalId]?.state === 'pending') await this.decide(approvalId, decision, given);
    }
  }

  /** The calls of the last 30 days that a grant would have covered, except the current one. */
  preview(match: GrantMatch, exceptCallId: string | null, signal?: AbortSignal): Promise<GrantPreview> {
    const params = { match: $state.snapshot(match), days: previewDays, ...(exceptCallId === null ? {} : { exceptCallId }) };
    return this.#client.op('grant.preview', params, signal);
  }

  async revoke(grantId: string): Promise<void> {
    this.#changeGrant(grantId, await this.#client.op('grant.revoke', { grantId }));
  }

  async settle(callId: string, answer: SettleAnswer): Promise<void> {
    await this.#client.op('outcome.settle', { callId, answer });
    this.#forgetOutcome(callId);
  }

  apply(event: AnyEvent): void {
    for (const meanwhile of this.#meanwhile) if (meanwhile.length < meanwhileMax) meanwhile.push(event);
    this.#apply(event);
  }

  #apply(event: AnyEvent): void {
    if (event.type === 'approval.requested') this.byId[event.body.approval.approvalId] = event.body.approval;
    else if (event.type === 'approval.decided') this.#decided(event);
    else if (event.type === 'turn.finished') this.#withdrawOf(event.turnId, event.atMs);
    else if (event.type === 'grant.created') this.grantsById[event.body.grant.grantId] = event.body.grant;
    else if (event.type === 'grant.revoked') this.#changeGrant(event.body.grantId, { revokedAtMs: event.atMs });
    else if (event.type === 'tool.requested') this.#used(event.body.grantId, event.atMs);
    else if (event.type === 'grant.spent') this.#spent(event.body.grantId, event.atMs);
    else if (event.type === 'tool.outcome_unknown') {
      const { callId, tool, args, reason, reported = false } = event.body;
      this.#forgetOutcome(callId);
      this.outcomes = [
        ...this.outcomes,
        { callId, tool, args, reason, sessionId: event.sessionId, turnId: event.turnId, atMs: event.atMs, reported },
      ];
    } else if (event.type === 'tool.outcome_settled') this.#forgetOutcome(event.body.callId);
  }

  #decided(event: EventOf<'approval.decided'>): void {
    const { approvalId } = event.body;
    const approval = this.byId[approvalId];
    if (approval !== undefined) this.byId[approvalId] = { ...approval, ...answerOf(event) };
  }

  /** A finished turn waits for nothing, even if the stop left no time to record that. */
  #withdrawOf(turnId: string | null, atMs: number): void {
    for (const approval of this.pending) {
      if (turnId !== null && approval.turnId === turnId) {
        this.byId[approval.approvalId] = { ...approval, state: 'withdrawn', decidedAtMs: atMs };
      }
    }
  }

  #spent(grantId: string, atMs: number): void {
    // Only a grant for one call is used up; wider ones stay.
    if (this.grantsById[grantId]?.scope.kind === 'once') this.#changeGrant(grantId, { spentAtMs: atMs });
  }

  #used(grantId: string | null, atMs: number): void {
    if (grantId === null) return;
    this.#changeGrant(grantId, { uses: (this.grantsById[grantId]?.uses ?? 0) + 1, lastUsedAtMs: atMs });
  }

  #changeGrant(grantId: string, change: Partial<KnownGrant>): void {
    const grant = this.grantsById[grantId];
    if (grant !== undefined) this.grantsById[grantId] = { ...grant, ...change };
  }

  #forgetOutcome(callId: string): void {
    this.outcomes = this.outcomes.filter((outcome) => outcome.callId !== callId);
  }
}
