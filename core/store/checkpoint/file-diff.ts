// Describes a change of one file for people: the kind of change, and the differing lines if both sides are available as text. Pure.

import type { FileDiff, FileImage } from '../../contracts/checkpoints.ts';
import { commonEncoding, decodeText, type DecodedText } from '../../base/text-encoding.ts';
import { diffLines } from './line-diff.ts';

export interface DiffSide {
  readonly image: FileImage;
  /** The content of a file; null if unavailable. */
  readonly content: Uint8Array | null;
}

/** Larger content is not compared. */
export const diffBytesMax = 1_000_000;

export function describeDiff(path: string, from: DiffSide, to: DiffSide): FileDiff {
  const change = changeOf(from.image, to.image);
  const plain = { path, change, diff: null, addedLines: 0, removedLines: 0 };
  const why = whyNoText(from, to);
  if (why !== null) return { ...plain, note: why };
  const [before, after] = [textOf(from), textOf(to)];
  if (before === null || after === null) return { ...plain, note: 'It is not text.' };
  const { text, addedLines, removedLines, isCut } = diffLines(before.text, after.text);
  const notes = [
    isCut ? 'Only the beginning of the differences is shown.' : '',
    commonEncoding([before, after]) === null ? `Its encoding changes from ${before.encoding} to ${after.encoding}.` : '',
    modeNote(from.image, to.image),
  ].filter(Boolean);
  return { path, change, diff: text, addedLines, removedLines, note: notes.length === 0 ? null : notes.join(' ') };
}

export function changeOf(from: FileImage, to: FileImage | null): FileDiff['change'] {
  if (to === null || from.kind === 'unknown' || to.kind === 'unknown') return 'unknown';
  if (from.kind === 'absent') return to.kind === 'absent' ? 'none' : 'created';
  if (to.kind === 'absent') return 'removed';
  return JSON.stringify(from) === JSON.stringify(to) ? 'none' : 'changed';
}

function whyNoText(from: DiffSide, to: DiffSide): string | null {
  for (const { image, content } of [from, to]) {
    if (image.kind === 'unknown') return `It is not known, because ${image.reason}.`;
    if (image.kind === 'folder') return 'It is a folder.';
    if (image.kind === 'link') return `It is a symbolic link to ${image.target}.`;
    if (image.kind === 'file' && content === null)
      return image.sizeBytes > diffBytesMax ? 'It is too large to be compared here.' : 'What was in it is no longer at hand.';
  }
  return null;
}

/** Returns null if the content is binary or damaged text. */
export function textOf({ image, content }: DiffSide): DecodedText | null {
  const decoded = decodeText(image.kind === 'absent' || content === null ? new Uint8Array() : content);
  return decoded?.isExact === true ? decoded : null;
}

function modeNote(from: FileImage, to: FileImage): string {
  if (from.kind !== 'file' || to.kind !== 'file' || from.mode === to.mode) return '';
  return `Its permissions change from ${from.mode.toString(8)} to ${to.mode.toString(8)}.`;
}
