// The view of an operation's result. Each operation that is a command has one; the types tie views to the forms. A form may say how its
// result is shown: a sentence, or a table of a list. Handwritten views are for anything more complex, and use the same tables.

import { isPlainObject } from '../../../base/json.ts';
import type { RowsForm } from '../../../contracts/command-form.ts';
import type { CommandOp, ViewedOp } from '../../../contracts/op-forms.ts';
import type { OpName, OpParams, OpResult } from '../../../contracts/ops.ts';
import type { CommandContext } from '../command-context.ts';
import type { Paint } from '../output.ts';
import { money, size, table, when } from '../table.ts';
import type { Given } from './entries.ts';
import { kebab } from './options.ts';

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

/** The field with the next page is named after its option: `nextCursor` and `--cursor`. */
const nextField = /^next([A-Z]\w*)$/;

export function shownBy<N extends OpName>(shows: string | RowsForm): Shown<N> {
  if (typeof shows === 'string') {
    // A terminal acts on control characters in a title or in what is exported.
    return { show: (result, { params, forStdout }) => forStdout(filled(shows, { ...recordOf(params), ...recordOf(result) })) };
  }
  return tableOf(shows.each, shows.columns, shows.none);
}

/** A column shows a field of a row, a text with fields in braces, or what the function makes of the row. */
type Columns<Row> = Readonly<Record<string, string | ((row: Row) => string)>>;
/** The same without texts, so that a field that does not exist is a type error. */
type FieldColumns<Row> = Readonly<Record<string, (keyof Row & string) | ((row: Row) => string)>>;
type RowOf<List> = List extends readonly (infer Row)[] ? Row : never;

/** Shows the list in the field `each` of a result as a table; `--json` prints its rows. */
export function listed<N extends OpName, K extends keyof OpResult<N> & string>(
  each: K,
  columns: Columns<RowOf<OpResult<N>[K]>>,
  none: string,
): Shown<N> {
  return tableOf<N, RowOf<OpResult<N>[K]>>(each, columns, none);
}

function tableOf<N extends OpName, Row>(each: string, columns: Columns<Row>, none: string): Shown<N> {
  const rowsOf = (result: OpResult<N>): readonly Row[] => {
    const rows = recordOf(result)[each];
    return Array.isArray(rows) ? rows : [];
  };
  return {
    json: rowsOf,
    show: (result) => filledTable(rowsOf(result), columns, none),
    next: (result) => nextOf(recordOf(result)),
  };
}

/** The rows as a table; `none` if there are none. */
export function tabled<Row>(rows: readonly Row[], columns: FieldColumns<Row>, none: string): string {
  return filledTable(rows, columns, none);
}

function filledTable<Row>(rows: readonly Row[], columns: Columns<Row>, none: string): string {
  const cells = (row: Row): string[] =>
    Object.values(columns).map((column) => (typeof column === 'string' ? cell(column, recordOf(row)) : column(row)));
  return table(Object.keys(columns), rows.map(cells), none);
}

function nextOf(result: Readonly<Record<string, unknown>>): string | null {
  for (const [name, value] of Object.entries(result)) {
    const [, option] = nextField.exec(name) ?? [];
    if (option !== undefined && value !== null)
      return `--${kebab(`${option[0]?.toLowerCase() ?? ''}${option.slice(1)}`)} ${textOf('', value)}`;
  }
  return null;
}

function cell(column: string, row: Readonly<Record<string, unknown>>): string {
  return column.includes('{') ? filled(column, row) : textOf(column, row[column]);
}

function filled(text: string, values: Readonly<Record<string, unknown>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => textOf(name, values[name]));
}

/** Formats a value. The suffix of its name gives the unit of a number. */
function textOf(name: string, value: unknown): string {
  if (name.endsWith('Usd')) return money(typeof value === 'number' ? value : null);
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') return JSON.stringify(value);
  if (name === 'atMs' || name.endsWith('AtMs')) return when(value);
  return name.endsWith('Bytes') ? size(value) : String(value);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isPlainObject(value) ? value : {};
}
