// Describes how a gate is removed.

export interface Gate {
  /** In the form area/name. */
  readonly name: string;
  /** The harm that the gate prevents. */
  readonly prevents: string;
  /** The file that contains the gate. */
  readonly file: string;
  /** The text of the gate; occurs exactly once in the file. */
  readonly text: string;
  /** The replacement text, without the gate. */
  readonly instead: string;
  /** Test files; at least one of their tests must fail without the gate. */
  readonly suites: readonly string[];
  /** For slow suites: runs only tests whose names match this pattern. */
  readonly only?: string;
}
