// Finds the pieces of an argument that no trusted source has said. Strict on purpose: unrecognised pieces count as not said. Pure.

import { decodePercents, foldText, runsOf, singleSpaced, stripEdges } from './text-words.ts';

/** The text of one source, as folded words and verbatim. */
export interface Said {
  word(word: string): boolean;
  verbatim(text: string): boolean;
}

/** path: where something new goes. name: something that is there already. */
export type ValueKind = 'command' | 'path' | 'name' | 'text';

/** Larger values are not split: they count as not said. */
const VALUE_CHARS_MAX = 64_000;
const PIECES_MAX = 2_000;
/** Shorter runs of letters in a file name mean too little to be checked, as long as there is a longer one. */
const RUN_CHARS_MIN = 4;

/** The pieces of the value that were not said; empty when a trusted source said all of it. Folded. */
export function missingPieces(value: string, kind: ValueKind, said: Said): string[] {
  if (value.trim() === '') return [];
  if (value.length > VALUE_CHARS_MAX) return [foldText(value.slice(0, 200))];
  return [...new Set(pieces[kind](value, said))].slice(0, PIECES_MAX);
}

const pieces: Readonly<Record<ValueKind, (value: string, said: Said) => string[]>> = {
  command: ofCommand,
  path: ofPath,
  name: ofName,
  text: ofText,
};

/** Said whole: that "plan" and "notes" were spoken of does not name notes/plan.md. */
function ofName(path: string, said: Said): string[] {
  return pathParts(path).filter((part) => !said.word(part));
}

function pathParts(path: string): string[] {
  return foldText(path)
    .split(/[/\\]+/)
    .filter((part) => part !== '' && part !== '.');
}

/** A name may be made of said words in another order ("summary of the page" → page-summary.md). */
function ofPath(path: string, said: Said): string[] {
  return pathParts(path).flatMap((part) => {
    if (said.word(part)) return [];
    const runs = runsOf(part).filter((run) => run.length >= RUN_CHARS_MIN || /\p{N}/u.test(run));
    return runs.length === 0 ? [part] : runs.filter((run) => !said.word(run));
  });
}

/** Words of a command matter at any length, and shell signs between them add meaning. */
function ofCommand(line: string, said: Said): string[] {
  const whole = singleSpaced(foldText(line));
  // Folding takes -D for -d, which is another option.
  if (said.verbatim(whole)) return line.split(/\s+/).filter((word) => /^-.*[A-Z]/.test(word) && !said.word(word));
  const missing = line
    .split(/[\s|&;<>()`$\\{}]+/)
    .map((word) => word.replaceAll(/["']/g, ''))
    .filter((word) => word !== '')
    .flatMap((word) => ofCommandWord(word, said));
  return missing.length === 0 && /[|&;<>()`$\\{}*?~#!\n\r]/.test(line) ? [whole] : missing;
}

function ofCommandWord(word: string, said: Said): string[] {
  if (said.word(word)) return [];
  const folded = foldText(word);
  // An option is said whole: of "--output=notes" nothing is meant but that.
  return word.startsWith('-') ? [word] : ofChunk(folded, said);
}

/** Every word of any length: a long secret can be sent in short pieces. */
function ofText(text: string, said: Said): string[] {
  const chunks = new Set(foldText(text).split(/\s+/));
  chunks.delete('');
  return [...chunks].flatMap((chunk) => ofChunk(chunk, said));
}

function ofChunk(chunk: string, said: Said): string[] {
  const plain = stripEdges(chunk);
  if (plain === '' || said.word(plain)) return [];
  if (plain.includes('://')) return ofUrl(plain, said);
  const decoded = decodePercents(plain);
  if (plain.includes('@') || isHostLike(plain)) return [plain];
  const runs = runsOf(decoded);
  // Only signs: they must be said verbatim.
  if (runs.length === 0) return [plain];
  return runs.filter((run) => !said.word(run));
}

/** The host is one piece: a name below a said one is another host. */
function ofUrl(text: string, said: Said): string[] {
  const url = URL.parse(text);
  if (url === null) return [text];
  const host = foldText(url.host);
  const missing = said.word(host) ? [] : [host];
  for (const word of [url.username, url.password]) if (word !== '' && !said.word(foldText(word))) missing.push(foldText(word));
  const rest = foldText(decodePercents(`${url.pathname} ${url.search} ${url.hash}`.replaceAll('+', ' ')));
  for (const run of runsOf(rest)) if (!said.word(run)) missing.push(run);
  if (runsOf(rest).length === 0 && /[^\s/?#]/.test(rest)) missing.push(rest.trim());
  return missing;
}

/** `mail.example.org`: host names count as a whole, or the words of one would vouch for another. */
function isHostLike(plain: string): boolean {
  return /^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}(?::\d+)?(?:[/?#].*)?$/u.test(plain);
}
