// Where a control of the settings is: its element ids, its state, and the way its value takes.

export interface Place {
  /** Of the one input, if there is one; several are named together by `labelledBy`. */
  readonly id: string;
  readonly labelledBy: string;
  readonly describedBy: string;
  readonly isInvalid: boolean;
  /** Inside another value: saved with it. */
  readonly isNested: boolean;
  /** Inside a form that is checked and saved as a whole. */
  readonly form?: FormPlace | undefined;
  /** Undefined removes the value. */
  readonly onDraft: (value: unknown) => void;
  /** Saves at once, unless nested. */
  readonly onCommit: (value: unknown) => void;
}

export interface FormPlace {
  /** Of the value in the form, dotted; empty for the form itself. */
  readonly path: string;
  /** The problems of single fields, by path. */
  readonly problems: Readonly<Record<string, string>>;
}
