// Removes single hunks of a change from a text that may have changed since. Succeeds only where the lines are still as the change left
// them. Pure; reads no files.

import { commonEncoding, encodeText, type DecodedText } from '../../base/text-encoding.ts';
import { joinLines, lineHunks, splitLines, type LineHunk } from './line-diff.ts';

interface Refusal {
  readonly kind: 'refuse';
  readonly reason: string;
}

export type HunkUndo = { readonly kind: 'text'; readonly text: string } | Refusal;

interface Sides<T> {
  readonly before: T;
  readonly after: T;
  readonly now: T;
}

/** Like `undoHunks`, in the encoding of the file. A side is null if it is not text. */
export function undoHunksOfFile(
  { before, after, now }: Sides<DecodedText | null>,
  hunks: readonly number[],
): { readonly kind: 'bytes'; readonly bytes: Uint8Array } | Refusal {
  const refusal: Refusal = { kind: 'refuse', reason: 'Its parts cannot be told apart; undo the whole file instead.' };
  if (before === null || after === null || now === null) return refusal;
  const encoding = commonEncoding([before, after, now]);
  if (encoding === null) return refusal;
  const undone = undoHunks({ before: before.text, after: after.text, now: now.text }, hunks);
  if (undone.kind === 'refuse') return undone;
  const bytes = encodeText(undone.text, encoding);
  return bytes === null ? refusal : { kind: 'bytes', bytes };
}

/** `hunks` are indexes from 0, in the order in which `diffLines` shows them. Undoes all of them or none. */
export function undoHunks({ before, after, now }: Sides<string>, hunks: readonly number[]): HunkUndo {
  const all = lineHunks(before, after);
  const lines = splitLines(now);
  const isAsLeft = now === after;
  // From the last hunk to the first, so that the line numbers of earlier hunks stay valid.
  for (const index of [...new Set(hunks)].sort((a, b) => b - a)) {
    const hunk = all[index];
    if (hunk === undefined) return { kind: 'refuse', reason: `There is no change ${index + 1} in it.` };
    const places = isAsLeft ? [hunk.newFrom] : findPlaces(lines, hunk);
    const [place] = places;
    if (place === undefined) return { kind: 'refuse', reason: 'These lines were changed since.' };
    if (places.length > 1) return { kind: 'refuse', reason: 'The file was changed since, and these lines are in it more than once now.' };
    lines.splice(place, hunk.newLines.length, ...hunk.oldLines);
  }
  return { kind: 'text', text: joinLines(lines) };
}

/** Returns at most two places, because a second place already makes the hunk ambiguous. A hunk without new lines cannot be located. */
function findPlaces(lines: readonly string[], { newLines }: LineHunk): number[] {
  const places: number[] = [];
  if (newLines.length === 0) return places;
  for (let at = 0; at + newLines.length <= lines.length && places.length < 2; at++) {
    if (newLines.every((line, offset) => lines[at + offset] === line)) places.push(at);
  }
  return places;
}
