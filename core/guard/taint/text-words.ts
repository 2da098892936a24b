// Splits a text into words, to tell whether arguments repeat words of a source. Pure; knows nothing of sessions.

/** One spelling for text that looks or resolves the same: folds compatibility forms, invisible characters and case. */
export function foldText(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase();
}

/**
 * The searchable words of a text: each piece between blanks, without the punctuation around it, its parts between slashes and other joints,
 * and the runs of letters and digits in them. Folded; pieces with capitals are also kept as written.
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

/** Runs of letters and digits; the characters between them carry no meaning. */
export function runsOf(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/** Removes the quotes, brackets and sentence marks around it. A leading dash or dot is kept. */
export function stripEdges(chunk: string): string {
  return chunk.replace(/^["'`([{<«“‘*]+/u, '').replace(/["'`)\]}>»”’*.,;:!?]+$/u, '');
}

/** Unchanged if it is badly encoded: it then matches no word, which is the safe side. */
export function decodePercents(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    if (cause instanceof URIError) return text;
    throw cause;
  }
}

/** Returns whether a text says something verbatim, not as a part of a longer word. Both folded, blanks as single spaces. */
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
