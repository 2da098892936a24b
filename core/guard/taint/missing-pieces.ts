// Finds the pieces of an argument that no trusted source has said. Strict on purpose: unrecognized pieces count as not said. Pure.

import { decodePercents, foldText, runsOf, singleSpaced, stripEdges } from './text-words.ts';

/** The text of one source, as folded words and verbatim. */
export interface Said {
  word(word: string): boolean;
  verbatim(text: string): boolean;
}

/** path: where something new is created. name: something that already exists. */
export type ValueKind = 'command' | 'path' | 'name' | 'text';

/** Larger values are not split; they count as not said. */
const VALUE_CHARS_MAX = 64_000;
const PIECES_MAX = 2_000;
/** Shorter runs of letters in a file name say too little to be checked if the name has a longer run. */
const RUN_CHARS_MIN = 4;

/** Returns the folded pieces of the value that were not said. Empty if a trusted source said all of it. */
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

/** Each part must be said as a whole: "plan" and "notes" do not name notes/plan.md. */
function ofName(path: string, said: Said): string[] {
  return pathParts(path).filter((part) => !said.word(part));
}

function pathParts(path: string): string[] {
  return foldText(path)
    .split(/[/\\]+/)
    .filter((part) => part !== '' && part !== '.');
}

/** The name of a new file may combine said words in another order ("summary of the page" → page-summary.md). */
function ofPath(path: string, said: Said): string[] {
  return pathParts(path).flatMap((part) => {
    if (said.word(part)) return [];
    const runs = runsOf(part).filter((run) => run.length >= RUN_CHARS_MIN || /\p{N}/u.test(run));
    return runs.length === 0 ? [part] : runs.filter((run) => !said.word(run));
  });
}

/** Words of a command matter at any length, and shell characters between them add meaning. */
function ofCommand(line: string, said: Said): string[] {
  const whole = singleSpaced(foldText(line));
  // Folding turns -D into -d, which is another option.
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
  // An option must be said as a whole: the parts of "--output=notes" mean nothing on their own.
  return word.startsWith('-') ? [word] : ofChunk(folded, said);
}

/** Checks words of any length, because a long secret can be sent in short pieces. */
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
  // Text without letters or digits must be said verbatim.
  if (runs.length === 0) return [plain];
  return runs.filter((run) => !said.word(run));
}

/** The host is one piece: a subdomain of a said host is another host. */
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

/** `mail.example.org`: a host name counts as a whole. Otherwise the words of one host would vouch for another. */
function isHostLike(plain: string): boolean {
  return /^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}(?::\d+)?(?:[/?#].*)?$/u.test(plain);
}
