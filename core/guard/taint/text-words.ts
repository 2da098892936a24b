// Splits a text into words, to determine whether arguments repeat words of a source. Pure; knows nothing of sessions.

import { decodeComponent } from '../../base/decode-component.ts';

/** Returns one spelling for text that looks or resolves the same: folds compatibility forms, invisible characters and case. */
export function foldText(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase();
}

/**
 * Returns the searchable words of a text: each piece between blanks without surrounding punctuation, its parts between slashes and other
 * separators, and the runs of letters and digits in them. Words are folded; pieces with capitals are also kept as written.
 */
export function wordsOf(text: string): Set<string> {
  const words = new Set<string>();
  for (const chunk of text.split(/\s+/)) {
    if (chunk === '') continue;
    words.add(stripEdges(chunk));
    addFolded(words, foldText(chunk));
  }
  return words;
}

function addFolded(words: Set<string>, chunk: string): void {
  const plain = stripEdges(chunk);
  words.add(chunk);
  words.add(plain);
  for (const part of plain.split(/[/\\=,;?&#()[\]{}<>"'`|]+/)) words.add(stripEdges(part));
  for (const run of runsOf(plain)) words.add(run);
  const decoded = decodePercents(plain);
  if (decoded !== plain) for (const run of runsOf(decoded)) words.add(run);
}

/** Returns runs of letters and digits. The characters between them carry no meaning. */
export function runsOf(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/** Removes surrounding quotes, brackets and punctuation. A leading dash or dot is kept. */
export function stripEdges(chunk: string): string {
  return chunk.replace(/^["'`([{<«“‘*]+/u, '').replace(/["'`)\]}>»”’*.,;:!?]+$/u, '');
}

/** Returns the text unchanged if its encoding is invalid. It then matches no word, which is the safe side. */
export function decodePercents(text: string): string {
  return text.includes('%') ? decodeComponent(text) : text;
}

/** Returns whether a text contains the needle verbatim, not as part of a longer word. Both must be folded, with single spaces as blanks. */
export function saysVerbatim(text: string, needle: string): boolean {
  if (needle === '') return false;
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
    if (!isJoined(text[at - 1], needle[0]) && !isJoined(needle.at(-1), text[at + needle.length])) return true;
  }
  return false;
}

const wordCharacter = /[\p{L}\p{M}\p{N}_-]/u;

function isJoined(before: string | undefined, after: string | undefined): boolean {
  return before !== undefined && after !== undefined && wordCharacter.test(before) && wordCharacter.test(after);
}

export function singleSpaced(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
