// The replacement behind edit_file: exact, unique by default, and helpful if it finds nothing. Pure.

import { err, ok, type Result } from '../../base/result.ts';

export interface TextEdit {
  readonly old: string;
  readonly new: string;
  readonly replaceAll: boolean;
}

export interface EditedText {
  readonly text: string;
  readonly replaced: number;
  /** The line of the first replacement, counted from 1. */
  readonly firstLine: number;
}

const LINES_LISTED_MAX = 10;
const LINES_SEARCHED_MAX = 50_000;
const LINE_CHARS_SHOWN_MAX = 200;

/** Why an edit changes no text, whatever the file contains; null if it may change one. */
export function whyNoEdit({ old, new: put }: Pick<TextEdit, 'old' | 'new'>): string | null {
  if (old === '') return '"old" is empty; use write_file to set a whole file or append_file to add at its end';
  return old === put ? '"old" and "new" are the same, so there is nothing to change' : null;
}

/** Fails with a message that says how to make the text match. */
export function editText(text: string, edit: TextEdit): Result<EditedText, string> {
  const why = whyNoEdit(edit);
  if (why !== null) return err(`${why}.`);
  const adapted = adaptLineEnds(text, edit);
  const found = positionsOf(text, adapted.old);
  const first = found[0];
  if (first === undefined) return err(notFound(text, edit.old));
  if (found.length > 1 && !edit.replaceAll) return err(severalFound(text, found));
  return ok({
    // A function, because "$&" and similar sequences in a replacement text would be expanded.
    text: edit.replaceAll ? text.replaceAll(adapted.old, () => adapted.new) : text.replace(adapted.old, () => adapted.new),
    replaced: found.length,
    firstLine: lineAt(text, first),
  });
}

/** Models write \n; in a file with \r\n line ends the same edit is meant with \r\n. */
function adaptLineEnds(text: string, edit: TextEdit): { old: string; new: string } {
  const needed = edit.old.includes('\n') && !edit.old.includes('\r') && !text.includes(edit.old) && text.includes('\r\n');
  if (!needed) return edit;
  return { old: edit.old.replaceAll('\n', '\r\n'), new: edit.new.replaceAll(/\r?\n/g, '\r\n') };
}

function positionsOf(text: string, part: string): number[] {
  const positions: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) positions.push(at);
  return positions;
}

function severalFound(text: string, positions: readonly number[]): string {
  const lines = positions.slice(0, LINES_LISTED_MAX).map((at) => lineAt(text, at));
  const more = positions.length > LINES_LISTED_MAX ? ', …' : '';
  return (
    `"old" is there ${positions.length} times (lines ${lines.join(', ')}${more}); ` +
    'add surrounding lines until it is unique, or set replaceAll.'
  );
}

function notFound(text: string, old: string): string {
  const near = nearestLine(text, old);
  if (near === null) return '"old" is not in the file; read the file and copy the text exactly.';
  const shown = near.text.length > LINE_CHARS_SHOWN_MAX ? `${near.text.slice(0, LINE_CHARS_SHOWN_MAX)}…` : near.text;
  const why = near.onlySpace ? 'it differs in white space only' : 'compare it letter by letter';
  return `"old" is not in the file. The nearest is line ${near.line}: ${JSON.stringify(shown)} (${why}).`;
}

function lineAt(text: string, position: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < position; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** The line most similar to the first non-blank line of `old`. */
function nearestLine(text: string, old: string): { line: number; text: string; onlySpace: boolean } | null {
  const wanted = old.split('\n').find((line) => line.trim() !== '');
  if (wanted === undefined) return null;
  const wantedPlain = squeeze(wanted);
  const wantedPairs = pairsOf(wantedPlain);
  let best: { line: number; text: string; onlySpace: boolean } | null = null;
  let bestScore = 0.5;
  const lines = text.split(/\r?\n/, LINES_SEARCHED_MAX);
  for (const [index, line] of lines.entries()) {
    const plain = squeeze(line);
    if (plain === wantedPlain) return { line: index + 1, text: line, onlySpace: true };
    // The lengths differ too much to reach the required score.
    if (Math.min(plain.length, wantedPlain.length) < bestScore * 0.5 * Math.max(plain.length, wantedPlain.length)) continue;
    const score = likeness(wantedPairs, plain);
    if (score > bestScore) {
      bestScore = score;
      best = { line: index + 1, text: line, onlySpace: false };
    }
  }
  return best;
}

function squeeze(line: string): string {
  return line.slice(0, 1000).replace(/\s+/g, ' ').trim();
}

function pairsOf(text: string): Set<string> {
  const pairs = new Set<string>();
  for (let i = 0; i + 1 < text.length; i++) pairs.add(text.slice(i, i + 2));
  return pairs;
}

/** Dice coefficient over pairs of letters: 1 for the same pairs, 0 if none are shared. */
function likeness(wanted: ReadonlySet<string>, text: string): number {
  const pairs = pairsOf(text);
  let shared = 0;
  for (const pair of pairs) if (wanted.has(pair)) shared += 1;
  return wanted.size + pairs.size === 0 ? 0 : (2 * shared) / (wanted.size + pairs.size);
}
