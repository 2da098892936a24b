// `--fields`: selected fields of a result, for pipes. A list prints one line per entry, with tabs between the fields.

import { isPlainObject, valueAt } from '../../base/json.ts';
import { didYouMean, nearNames } from '../../base/near-names.ts';
import { AppError } from '../../contracts/errors.ts';

type Row = readonly unknown[];

/** Fails with `invalid_params` for a field that no entry has. A dot leads into a nested field: `usage.costUsd`. */
export function pickFields(whole: unknown, names: readonly string[]): { readonly document: unknown; readonly rows: readonly Row[] } {
  const result = listWithin(whole, names) ?? whole;
  const entries: readonly unknown[] = Array.isArray(result) ? result : [result];
  for (const name of names) assertKnown(entries, name);
  const rows = entries.map((entry) => names.map((name) => valueAt(entry, name)));
  const picked = rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? null])));
  return { document: Array.isArray(result) ? picked : picked[0], rows };
}

/** The list in a result that says more than the list, if the fields are those of its entries. Lists that are all empty may have any. */
function listWithin(result: unknown, names: readonly string[]): readonly unknown[] | undefined {
  const lists = listsIn(result);
  if (lists.length === 0 || names.every((name) => valueAt(result, name) !== undefined)) return undefined;
  if (lists.every((list) => list.length === 0)) return [];
  return lists.find((list) => names.every((name) => list.some((entry) => valueAt(entry, name) !== undefined)));
}

function listsIn(result: unknown): readonly (readonly unknown[])[] {
  return isPlainObject(result) ? Object.values(result).filter((value): value is readonly unknown[] => Array.isArray(value)) : [];
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
  const inner = entries.flatMap(listsIn).flat();
  const known = [...new Set([...entries, ...inner].flatMap((entry) => (isPlainObject(entry) ? Object.keys(entry) : [])))];
  throw new AppError('invalid_params', `The result has no field ${JSON.stringify(name)}.`, {
    hint: didYouMean(nearNames(name, known)) ?? `It has: ${known.join(', ')}`,
  });
}
