// The view of an operation's result. Each operation that is a command has one; the types tie views to the forms.

import type { CommandOp, ViewedOp } from '../../../contracts/op-forms.ts';
import type { OpName, OpParams, OpResult } from '../../../contracts/ops.ts';
import type { CommandContext } from '../command-context.ts';
import type { Paint } from '../output.ts';
import type { Given } from './entries.ts';

export interface Showing<N extends OpName> {
  readonly paint: Paint;
  /** The parameters of the call. */
  readonly params: OpParams<N>;
  /** The command line of this program, for printed commands that people copy. */
  readonly program: string;
  /** Returns text unchanged for a pipe, and escapes control characters for a terminal. */
  readonly forStdout: (text: string) => string;
  /** False if the runtime runs only for this command. */
  readonly isRunning: boolean;
}

export interface Shown<N extends OpName> {
  /** The value that --json prints; by default the result itself. */
  readonly json?: (result: OpResult<N>, params: OpParams<N>) => unknown;
  /** The text for people. */
  readonly show: (result: OpResult<N>, showing: Showing<N>) => string;
  /** True if the text of a result that is not done only says why nothing was done. Such a text goes to stderr. */
  readonly saysWhyNot?: true;
  readonly exitCode?: (result: OpResult<N>, params: OpParams<N>) => number;
  /** The options that lead to the next page; null on the last page. */
  readonly next?: (result: OpResult<N>) => string | null;
}

/** Makes parameters from arguments and options that are not parameters themselves. `params` contains those already parsed. */
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
      /** Replaces the single call: asks a person, reads several pages, or waits. */
      readonly perform: (context: CommandContext, params: OpParams<N>, given: Given) => Promise<number>;
    };

/** The views of a family of operations. If an operation's form shows its result, only the reading of its parameters. */
export type ViewsOf<Family extends string> = { readonly [N in ViewedOp as N extends `${Family}.${string}` ? N : never]: View<N> } & {
  readonly [N in Exclude<CommandOp, ViewedOp> as N extends `${Family}.${string}` ? N : never]?: { readonly params: Reading<N> };
};

export type FamilyOf<N extends string> = N extends `${infer Family}.${string}` ? Family : never;
