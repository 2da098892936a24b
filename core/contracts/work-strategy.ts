// The interface of a custom strategy for work with criteria: whether the agent tries again, and with which message. Types only.

export interface WorkedAttempt {
  /** From 1. */
  readonly attempt: number;
  readonly text: string;
  /** The criteria that were checked. After a failed rule, later criteria are not checked. */
  readonly checks: readonly { readonly text: string; readonly verdict: 'pass' | 'fail' | 'error'; readonly evidence: string }[];
}

export interface WorkStrategy {
  /** Named by a task: `strategy: { kind: custom, name: … }`. */
  readonly name: string;
  /**
   * Called after each attempt that ended and was checked, with the oldest attempt first. Null ends the work: PASS if the last attempt meets
   * every criterion, otherwise FAIL. Must be pure, because a restart calls it again with the same input.
   */
  next(work: {
    readonly goal: string;
    readonly attempts: readonly WorkedAttempt[];
    readonly triesLeft: number;
  }): { readonly again: string } | null;
}
