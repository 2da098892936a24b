// `--fields`: selected fields of a result, for pipes. A list prints one line per entry, with tabs between the fields.

import { isPlainObject, valueAt } from '../../base/json.ts';
import { didYouMean, nearNames } from '../../base/near-names.ts';
import { AppError } from '../../contracts/errors.ts';

type Row = readonly unknown[];

/** Fails with `invalid_params` for a field that no entry has. A dot leads into a nested field: `usage.costUsd`. */
export function pickFields(result: unknown, names: readonly string[]): { readonly document: unknown; readonly rows: readonly Row[] } {
  const entries: readonly unknown[] = Array.isArray(result) ? result : [result];
  for (const name of names) assertKnown(entries, name);
  const rows = entries.map((entry) => names.map((name) => valueAt(entry, name)));
  const picked = rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? null])));
  return { document: Array.isArray(result) ? picked : picked[0], rows };
}

/** Replaces tabs and line breaks in values, which would look like separators. */
export function tabbed(rows: readonly Row[]): string {
  return rows.map((row) => row.map((value) => wordsOf(value).replaceAll(/[\t\r\n]+/g, ' ')).join('\t')).join('\n');
}

function wordsOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function assertKnown(entries: readonly unknown[], name: string): void {
  if (entries.length === 0 || entries.some((entry) => valueAt(entry, name) !== undefined)) return;
  const known = [...new Set(entries.flatMap((entry) => (isPlainObject(entry) ? Object.keys(entry) : [])))];
  throw new AppError('invalid_params', `The result has no field ${JSON.stringify(name)}.`, {
    hint: didYouMean(nearNames(name, known)) ?? `It has: ${known.join(', ')}`,
  });
}
