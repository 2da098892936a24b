// What is known of a command that runs what a project itself defines.

export interface TaskForm {
  /** Null where the arguments or the project's settings may change what runs. */
  readonly family: readonly string[] | null;
  /** Files that decide what runs, relative to the folder, also those that are not there. */
  readonly bindings: readonly string[];
  /** What will run, where a file says so. */
  readonly remark: string | null;
  readonly operands: readonly string[];
}
