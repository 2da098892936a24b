// The context of a settings control: its element ids, its state, and where its value goes.

export interface Place {
  /** The id of the only input; several inputs are labelled together by `labelledBy`. */
  readonly id: string;
  readonly labelledBy: string;
  readonly describedBy: string;
  readonly isInvalid: boolean;
  /** True inside another value, with which it is saved. */
  readonly isNested: boolean;
  /** Set inside a form that is validated and saved as a whole. */
  readonly form?: FormPlace | undefined;
  /** Undefined removes the value. */
  readonly onDraft: (value: unknown) => void;
  /** Saves at once, unless nested. */
  readonly onCommit: (value: unknown) => void;
}

export interface FormPlace {
  /** The dotted path of the value in the form; empty for the form itself. */
  readonly path: string;
  /** The errors of single fields, by path. */
  readonly problems: Readonly<Record<string, string>>;
}
