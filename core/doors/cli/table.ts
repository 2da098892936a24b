// Plain aligned columns for people, and the small texts in them. No borders, no wrapping, no state. Nothing is truncated, because people
// copy ids, hashes and commands, and a pipe has no width.

import { formatUsd } from '../../base/format-usd.ts';
import { localDay } from '../../base/local-day.ts';
import { safeForTerminal } from '../../base/visible-text.ts';

/** A longer cell shifts the rest of its row instead of widening the column. */
const COLUMN_MAX = 60;

/** Formats rows as aligned columns, or returns `none` if there are no rows. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], none: string): string {
  if (rows.length === 0) return none;
  const cells = [headings, ...rows].map((row) => row.map(oneLine));
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => lengthWithin(row[column] ?? ''))));
  return cells
    .map((row) =>
      row
        .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Names and values, one pair per line, without the pairs that have no value. */
export function facts(pairs: readonly (readonly [string, string])[]): string {
  const told = pairs.filter(([, value]) => value !== '');
  const width = Math.max(...told.map(([name]) => name.length));
  return told.map(([name, value]) => `${name.padEnd(width)}  ${safeForTerminal(value)}`).join('\n');
}

/** The local date and time. */
export function when(atMs: number | null): string {
  if (atMs === null) return '-';
  const at = new Date(atMs);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${localDay(atMs)} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')}`;
}

export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

export function money(usd: number | null): string {
  return usd === null ? 'unknown' : formatUsd(usd);
}

function lengthWithin(cell: string): number {
  return cell.length > COLUMN_MAX ? 0 : cell.length;
}

export function oneLine(text: string): string {
  return safeForTerminal(text.replaceAll(/\s+/g, ' ').trim());
}
