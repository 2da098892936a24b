// Fuzzy search by a few letters: they must occur in order, and score higher at the beginning of a word and next to each other. Pure.
// Ignores case and accents.

export interface FuzzyMatch {
  readonly score: number;
  /** Positions of the matching letters in the text, in code units. */
  readonly at: readonly number[];
}

const textCharsMax = 200;
const queryCharsMax = 60;

/** Null if a letter is missing. An empty query matches everything, with no letter marked. */
export function fuzzyMatch(query: string, text: string): FuzzyMatch | null {
  const wanted = fold(query.slice(0, queryCharsMax)).replaceAll(/\s+/g, '');
  if (wanted === '') return { score: 0, at: [] };
  const letters = fold(text.slice(0, textCharsMax));
  const whole = letters.indexOf(fold(query.trim()));
  const length = query.trim().length;
  // A match at the beginning of a word beats scattered letters; a match in the middle of a word does so only if it is long.
  if (whole !== -1) return { score: (isStart(letters, whole) ? 10 : 6) * length - whole / 10, at: range(whole, length) };
  return strewn(wanted, letters);
}

/** By its name, or else by the beginning of another word for it, which ranks below the beginning of a word of a name. */
export function matchOffer(query: string, name: string, also = ''): FuzzyMatch | null {
  const byName = fuzzyMatch(query, name);
  const wanted = fold(query.trim());
  const isOther = wanted !== '' && ` ${fold(also)}`.includes(` ${wanted}`);
  const score = 9 * wanted.length;
  return isOther && score > (byName?.score ?? 0) ? { score, at: [] } : byName;
}

function strewn(wanted: string, letters: string): FuzzyMatch | null {
  const at: number[] = [];
  let score = 0;
  for (const letter of wanted) {
    const last = at.at(-1) ?? -1;
    const next = letters.indexOf(letter, last + 1);
    if (next === -1) return null;
    // The beginning of a later word is more likely to be meant than a letter inside this word.
    const start = next === last + 1 ? next : startOfWord(letters, letter, next);
    const found = start ?? next;
    score += found === last + 1 ? 8 : isStart(letters, found) ? 6 : 1;
    at.push(found);
  }
  return { score: score - (at.at(-1) ?? 0) / 20, at };
}

function startOfWord(letters: string, letter: string, from: number): number | null {
  for (let at = from; at !== -1; at = letters.indexOf(letter, at + 1)) if (isStart(letters, at)) return at;
  return null;
}

function isStart(letters: string, at: number): boolean {
  return at === 0 || !/[\p{L}\p{N}]/u.test(letters[at - 1] ?? '');
}

/** Folds case and accents. Keeps the number of code units, so that positions match the original text. */
function fold(text: string): string {
  if (/^[ -~]*$/.test(text)) return text.toLowerCase();
  return Array.from({ length: text.length }, (_, at) => {
    const unit = text[at] ?? '';
    const plain = unit.normalize('NFD')[0]?.toLowerCase() ?? unit;
    return plain.length === 1 ? plain : unit;
  }).join('');
}

function range(from: number, length: number): number[] {
  return Array.from({ length }, (_, index) => from + index);
}

/** Splits a text into matching and other pieces, for display. */
export function piecesOf(text: string, at: readonly number[]): { readonly text: string; readonly isHit: boolean }[] {
  const hits = new Set(at);
  const pieces: { text: string; isHit: boolean }[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const isHit = hits.has(index);
    const last = pieces.at(-1);
    if (last?.isHit === isHit) last.text += text[index];
    else pieces.push({ text: text[index] ?? '', isHit });
  }
  return pieces;
}
