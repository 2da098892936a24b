// How an operation is a command: its words as plain data, with no schema and no code, so that help and completion read them without loading
// anything else. Types, defaults and choices of arguments and options come from the schema of the operation.

import type { OpName, OpParams, OpResult } from './ops.ts';

type KeysOf<T> = T extends unknown ? keyof T & string : never;
type Parameter<N extends OpName> = KeysOf<OpParams<N>>;

/** `?` may be left out, `...` takes the rest of the line. A name after a colon is no parameter; the command makes one of it. */
type Taken<P extends string> = `${P | `:${string}`}${'' | '...'}${'' | '?'}`;

/** What the option is for. `flag` gives it another name than its parameter has; `sets` is what a switch says. */
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
  /** That of the operation when left out. */
  readonly about?: string;
  readonly alias?: string;
  readonly takes?: readonly Taken<P>[];
  /** What an argument is, where its name does not say it. */
  readonly words?: Readonly<Record<string, string>>;
  /** By parameter; with dashes in front, an option that is no parameter. */
  readonly options?: { readonly [K in P]?: OptionForm } & { readonly [K: `--${string}`]: OptionForm };
  /** Parameters that this command gives a value. */
  readonly sets?: { readonly [K in P]?: unknown };
  /** Parameters that are paths, resolved against the current folder. */
  readonly paths?: readonly P[];
  /** The parameter that is read from standard input. */
  readonly stdin?: P;
  /** A person is asked this first; `--yes` answers it. */
  readonly confirm?: string;
  /** The rest of a command line that works. */
  readonly example?: string;
}

export interface OpForm<P extends string = string, R extends string = string> {
  /** What it does, as one tells somebody to do it. */
  readonly about: string;
  /** Refused to a command line that a tool started. */
  readonly forPerson?: true;
  /** The field of the result that says whether it went well. */
  readonly doneWhen?: R;
  /** It starts a turn, and the command stays until that has ended. */
  readonly follows?: true;
  /** Turns must be able to run meanwhile. */
  readonly live?: true;
  /** By the words of the command; none where other doors, or commands made by hand, reach the operation. */
  readonly commands?: Readonly<Record<string, CommandForm<P>>>;
}

/** A form for every operation of these families. */
export type OpForms<Family extends string> = {
  readonly [N in OpName as N extends `${Family}.${string}` ? N : never]: OpForm<Parameter<N>, KeysOf<OpResult<N>>>;
};
