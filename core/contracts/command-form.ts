// Describes an operation as a command, in its entry of the operations table. Plain data without code: the build hands it to help and
// completion without the schemas. Types, defaults and choices of arguments and options come from the schema of the operation.

import type * as z from 'zod';

type KeysOf<T> = T extends unknown ? keyof T & string : never;

/** `?` is optional, `...` takes the rest of the line. A name after a colon is not a parameter; the command derives a parameter from it. */
type Taken<P extends string> = `${P | `:${string}`}${'' | '...'}${'' | '?'}`;

/** The help text of an option. `flag` renames it; `sets` is the value that a switch sets. */
export type OptionForm =
  | string
  | {
      readonly about: string;
      readonly flag?: string;
      readonly sets?: Readonly<Record<string, unknown>>;
      /** It may be given several times, one value each. */
      readonly repeats?: true;
    };

/** A list in the result: its rows are what `--json` prints, and a table for people. */
export interface RowsForm<R extends string = string> {
  /** The field that is the list. */
  readonly each: R;
  /** By heading: a field of a row, or a text with fields in braces. */
  readonly columns: Readonly<Record<string, string>>;
  /** The sentence where the list is empty. */
  readonly none: string;
}

export interface CommandForm<P extends string = string, R extends string = string> {
  /** Defaults to the text of the operation. */
  readonly about?: string;
  readonly alias?: string;
  readonly takes?: readonly Taken<P>[];
  /** Explains an argument whose name is not clear enough. */
  readonly words?: Readonly<Record<string, string>>;
  /** By parameter; a key that begins with dashes is an option without a parameter. */
  readonly options?: { readonly [K in P]?: OptionForm } & { readonly [K: `-${string}`]: OptionForm };
  /** Parameters that this command gives a value. */
  readonly sets?: { readonly [K in P]?: unknown };
  /** The paths: parameters are resolved against the current folder; an argument that is no parameter is named with its colon. */
  readonly paths?: readonly (P | `:${string}`)[];
  /** The parameter that is read from standard input. */
  readonly stdin?: P;
  /** A confirmation question; `--yes` answers it. */
  readonly confirm?: string;
  /** Where this command shows the result otherwise than the operation's form says. */
  readonly shows?: RowsForm<R>;
  /** The rest of a command line that works. */
  readonly example?: string;
}

export interface OpForm<P extends string = string, R extends string = string> {
  /** The help text: an imperative sentence that says what the operation does. */
  readonly about: string;
  /** Refused to a command line that a tool started. */
  readonly forPerson?: true;
  /** The field of the result that says whether it went well. */
  readonly doneWhen?: R;
  /** It starts a turn, and the command stays until that has ended. */
  readonly follows?: true;
  /** Needs a runtime that can run turns. */
  readonly live?: true;
  /** How a command shows the result: a text with fields of the result and the parameters in braces, or a table. Without, a view by hand. */
  readonly shows?: string | RowsForm<R>;
  /** By command words; absent if the operation has no generated command. */
  readonly commands?: Readonly<Record<string, CommandForm<P, R>>>;
}

/** The least that every schema is: to compare each with the whole of `ZodType` takes the compiler seconds. */
interface AnySchema {
  readonly _zod: { readonly input: unknown; readonly output: unknown };
}

interface OpSchemas {
  readonly params: AnySchema;
  readonly result: AnySchema;
}

type WithForms<T extends Readonly<Record<string, OpSchemas>>> = {
  readonly [N in keyof T]: OpForm<KeysOf<z.input<T[N]['params']>>, KeysOf<z.infer<T[N]['result']>>>;
};

/** Operations with their forms: an argument or option must be a parameter of its operation. */
export function defineOps<const T extends Readonly<Record<string, OpSchemas>>>(table: T & WithForms<T>): T {
  return table;
}
