// The form of a gate's removal.

export interface Gate {
  /** area/name. */
  readonly name: string;
  /** The harm it prevents. */
  readonly prevents: string;
  /** The file it is in. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly text: string;
  /** The text without the gate. */
  readonly instead: string;
  /** Test files of which at least one test must fail without it. */
  readonly suites: readonly string[];
  /** Of slow suites only the tests whose names match. */
  readonly only?: string;
}
