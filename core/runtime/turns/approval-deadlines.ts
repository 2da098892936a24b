// Approvals of unattended turns: the runtime denies those that are still open at their deadline. The deadlines are in the log with the
// approvals, so a restart loses none. Uses one timer for all; approves nothing.

import { type Clock, isOver, type Later } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { Approval } from '../../contracts/policy.ts';

export interface ApprovalDeadlinesDeps {
  readonly clock: Clock;
  readonly later: Later;
  readonly logger: Logger;
  pendingApprovals(): readonly Approval[];
  /** Records the denial and continues the turn. */
  deny(approval: Approval): void;
}

/** The clock may be set, and the machine may sleep, so deadlines are checked this often while any is pending. */
const LOOK_AGAIN_MS = 30_000;

export class ApprovalDeadlines {
  readonly #deps: ApprovalDeadlinesDeps;
  #callOff: (() => void) | null = null;
  #stopped = false;

  constructor(deps: ApprovalDeadlinesDeps) {
    this.#deps = deps;
  }

  /** Denies overdue approvals and waits for the next deadline. Call it when a turn begins to wait, and at start. */
  look(): void {
    this.#callOff?.();
    this.#callOff = null;
    if (this.#stopped) return;
    const nowMs = this.#deps.clock.nowMs();
    let nextMs = Infinity;
    for (const approval of this.#deps.pendingApprovals()) {
      if (approval.dueAtMs === undefined) continue;
      if (isOver({ fromMs: approval.createdAtMs, untilMs: approval.dueAtMs }, nowMs) && this.#denied(approval)) continue;
      nextMs = Math.min(nextMs, Math.max(approval.dueAtMs - nowMs, 1_000));
    }
    if (nextMs === Infinity) return;
    this.#callOff = this.#deps.later(Math.min(nextMs, LOOK_AGAIN_MS), () => {
      this.look();
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#callOff?.();
    this.#callOff = null;
  }

  /** Returns false if the denial could not be written: the approval stays open and is tried again. */
  #denied(approval: Approval): boolean {
    try {
      this.#deps.deny(approval);
      return true;
    } catch (cause) {
      this.#deps.logger.log('error', 'a question could not be answered when its time was over', {
        approvalId: approval.approvalId,
        cause: String(cause),
      });
      return false;
    }
  }
}
