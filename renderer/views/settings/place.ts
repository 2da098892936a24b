// Where a control of the settings is: its element ids, its state, and the way its value takes.

export interface Place {
  /** Of the one input, if there is one; several are named together by `labelledBy`. */
  readonly id: string;
  readonly labelledBy: string;
  readonly describedBy: string;
  readonly isInvalid: boolean;
  /** Inside another value: saved with it. */
  readonly isNested: boolean;
  /** Undefined removes the value. */
  readonly onDraft: (value: unknown) => void;
  /** Saves at once, unless nested. */
  readonly onCommit: (value: unknown) => void;
}
