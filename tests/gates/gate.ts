// What the removal of a gate consists of.

export interface Gate {
  /** area/name. */
  readonly name: string;
  /** What happens no more because of it. */
  readonly prevents: string;
  /** The file it stands in. */
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
