// Describes how an operation becomes a command, as part of its entry in the operations table. Plain data without code, so that the build
// can pass it to help and completion without the schemas. Types, defaults and choices of arguments and options are in the schema of the
// operation.

/**
 * `?` means optional, `...` takes the rest of the line. A name after a colon is not a parameter; the command derives a parameter from it.
 */
type Taken<P extends string> = `${P | `:${string}`}${'' | '...'}${'' | '?'}`;

/** The help text of an option. `flag` renames the option; `sets` is the value that a switch sets. */
export type OptionForm =
  | string
  | {
      readonly about: string;
      readonly flag?: string;
      readonly sets?: Readonly<Record<string, unknown>>;
      /** Whether the option may be given several times, with one value each. */
      readonly repeats?: true;
    };

/** A list in the result. `--json` prints its rows; people see a table. */
export interface RowsForm<R extends string = string> {
  /** The field that contains the list. */
  readonly each: R;
  /** Keyed by heading: a field of a row, or a text with fields in braces. */
  readonly columns: Readonly<Record<string, string>>;
  /** The sentence for an empty list. */
  readonly none: string;
}

export interface CommandForm<P extends string = string, R extends string = string> {
  /** Defaults to the text of the operation. */
  readonly about?: string;
  readonly alias?: string;
  readonly takes?: readonly Taken<P>[];
  /** Explains an argument whose name is not clear enough. */
  readonly words?: Readonly<Record<string, string>>;
  /** Keyed by parameter. A key with leading dashes is an option without a parameter. */
  readonly options?: { readonly [K in P]?: OptionForm } & { readonly [K: `-${string}`]: OptionForm };
  /** Parameters to which this command gives a fixed value. */
  readonly sets?: { readonly [K in P]?: unknown };
  /**
   * The parameters that are paths, which are resolved against the current folder. An argument that is not a parameter is named with its
   * colon.
   */
  readonly paths?: readonly (P | `:${string}`)[];
  /** The parameter that is read from standard input. */
  readonly stdin?: P;
  /** A confirmation question; `--yes` answers it. */
  readonly confirm?: string;
  /** How this command shows the result, if it differs from the operation's form. */
  readonly shows?: RowsForm<R>;
  /** The rest of a valid command line. */
  readonly example?: string;
}

export interface OpForm<P extends string = string, R extends string = string> {
  /** The help text: an imperative sentence that says what the operation does. */
  readonly about: string;
  /** Whether the operation is refused to command lines that a tool started. */
  readonly forPerson?: true;
  /** The field of the result that says whether the operation succeeded. */
  readonly doneWhen?: R;
  /** Whether the operation starts a turn whose end the command waits for. */
  readonly follows?: true;
  /** Whether the operation needs a runtime that can run turns. */
  readonly live?: true;
  /**
   * How a command shows the result: a text with fields of the result and the parameters in braces, or a table. Without it, there is a
   * hand-written view.
   */
  readonly shows?: string | RowsForm<R>;
  /** Keyed by command words. Absent if the operation has no generated command. */
  readonly commands?: Readonly<Record<string, CommandForm<P, R>>>;
}
