// Describes an operation as a command: plain data without schemas or code, so that help and completion load nothing else. Types, defaults
// and choices of arguments and options come from the schema of the operation.

import type { OpName, OpParams, OpResult } from './ops.ts';

type KeysOf<T> = T extends unknown ? keyof T & string : never;
type Parameter<N extends OpName> = KeysOf<OpParams<N>>;

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

export interface CommandForm<P extends string = string> {
  /** Defaults to the text of the operation. */
  readonly about?: string;
  readonly alias?: string;
  readonly takes?: readonly Taken<P>[];
  /** Explains an argument whose name is not clear enough. */
  readonly words?: Readonly<Record<string, string>>;
  /** By parameter; a key that begins with dashes is an option without a parameter. */
  readonly options?: { readonly [K in P]?: OptionForm } & { readonly [K: `--${string}`]: OptionForm };
  /** Parameters that this command gives a value. */
  readonly sets?: { readonly [K in P]?: unknown };
  /** Parameters that are paths, resolved against the current folder. */
  readonly paths?: readonly P[];
  /** The parameter that is read from standard input. */
  readonly stdin?: P;
  /** A confirmation question; `--yes` answers it. */
  readonly confirm?: string;
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
  /** By command words; absent if the operation has no generated command. */
  readonly commands?: Readonly<Record<string, CommandForm<P>>>;
}

/** A form for every operation of these families. */
export type OpForms<Family extends string> = {
  readonly [N in OpName as N extends `${Family}.${string}` ? N : never]: OpForm<Parameter<N>, KeysOf<OpResult<N>>>;
};
