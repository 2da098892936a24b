// The view of an operation whose form says how its result is shown: a sentence, or a table of a list; and tables for handwritten views,
// which are for anything more complex.

import { isPlainObject } from '../../../base/json.ts';
import type { RowsForm } from '../../../contracts/command-form.ts';
import type { OpName, OpResult } from '../../../contracts/ops.ts';
import { money, size, table, when } from '../table.ts';
import { kebab } from './options.ts';
import type { Shown } from './view.ts';

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
