// The form of a strategy for work with criteria that a feature brings: whether the agent tries again, and with which message. Types only.

export interface WorkedAttempt {
  /** From 1. */
  readonly attempt: number;
  /** The answer. */
  readonly text: string;
  /** The criteria that were checked; later ones are not reached once a rule fails. */
  readonly checks: readonly { readonly text: string; readonly verdict: 'pass' | 'fail' | 'error'; readonly evidence: string }[];
}

export interface WorkStrategy {
  /** A task names it: `strategy: { kind: custom, name: … }`. */
  readonly name: string;
  /**
   * Asked after each attempt that ended and was checked, oldest attempt first. Null ends the work: PASS where the last attempt meets every
   * criterion, else FAIL. Must be pure: after a restart it is asked the same again.
   */
  next(work: {
    readonly goal: string;
    readonly attempts: readonly WorkedAttempt[];
    readonly triesLeft: number;
  }): { readonly again: string } | null;
}
