// The view of an operation's result. One for each operation that is a command; the types tie views to the forms.

import type { CommandOp, ViewedOp } from '../../../contracts/op-forms.ts';
import type { OpName, OpParams, OpResult } from '../../../contracts/ops.ts';
import type { CommandContext } from '../command-context.ts';
import type { Paint } from '../output.ts';
import type { Given } from './entries.ts';

export interface Showing<N extends OpName> {
  readonly paint: Paint;
  /** The parameters of the call. */
  readonly params: OpParams<N>;
  /** How this program is called again, for commands that are printed to be copied. */
  readonly program: string;
  /** Raw into a pipe, disarmed on a terminal. */
  readonly forStdout: (text: string) => string;
  /** False where the runtime runs for this command only. */
  readonly isRunning: boolean;
}

export interface Shown<N extends OpName> {
  /** The value that --json prints; by default the result itself. */
  readonly json?: (result: OpResult<N>, params: OpParams<N>) => unknown;
  /** The text for people. */
  readonly show: (result: OpResult<N>, showing: Showing<N>) => string;
  readonly exitCode?: (result: OpResult<N>, params: OpParams<N>) => number;
  /** The options that lead to the next page; null on the last one. */
  readonly next?: (result: OpResult<N>) => string | null;
}

/** Makes parameters from arguments and options that are not parameters. `params` holds those already parsed. */
type Reading<N extends OpName> = (
  params: Partial<OpParams<N>>,
  typed: { readonly given: Given; readonly context: CommandContext },
) => OpParams<N> | Promise<OpParams<N>>;

export type View<N extends OpName> =
  | (Shown<N> & {
      readonly params?: Reading<N>;
      /** Further views, by the words of a command. */
      readonly others?: Readonly<Record<string, Shown<N>>>;
    })
  | {
      readonly params?: Reading<N>;
      /** Replaces the single call: asks a person, reads several pages, waits. */
      readonly perform: (context: CommandContext, params: OpParams<N>, given: Given) => Promise<number>;
    };

/** The views of a family of operations; where the form of one shows its result, only how its parameters are made. */
export type ViewsOf<Family extends string> = { readonly [N in ViewedOp as N extends `${Family}.${string}` ? N : never]: View<N> } & {
  readonly [N in Exclude<CommandOp, ViewedOp> as N extends `${Family}.${string}` ? N : never]?: { readonly params: Reading<N> };
};

export type FamilyOf<N extends string> = N extends `${infer Family}.${string}` ? Family : never;
