// The words of a query and the text around their matches, the same for every search of the log. Pure.

const WORDS_MAX = 16;
const EXCERPT_BEFORE = 60;
const EXCERPT_AFTER = 140;

/** Each word becomes a quoted string, so nothing in a query is FTS5 syntax. */
export function toMatch(query: string): string {
  return wordsOf(query)
    .map((word, index, words) => `"${word}"${index === words.length - 1 ? '*' : ''}`)
    .join(' ');
}

export function wordsOf(query: string): string[] {
  return (query.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).slice(0, WORDS_MAX);
}

/** The text around the first match; the beginning if accents hide the match from a plain search. */
export function excerptOf(text: string, words: readonly string[]): string {
  const folded = fold(text);
  const places = folded.length === text.length ? words.map((word) => folded.indexOf(fold(word))).filter((at) => at >= 0) : [];
  const first = places.length === 0 ? 0 : Math.min(...places);
  const from = Math.max(0, first - EXCERPT_BEFORE);
  const cut = text
    .slice(from, first + EXCERPT_AFTER)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return `${from > 0 ? '… ' : ''}${cut}${first + EXCERPT_AFTER < text.length ? ' …' : ''}`;
}

function fold(text: string): string {
  return text.toLowerCase();
}
