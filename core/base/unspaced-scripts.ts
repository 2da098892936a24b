// Scripts that are written without spaces between words, such as Chinese, Japanese and Thai. A word index takes a run of their letters for one
// word, so it is given each letter as a word, and a search looks for letters that follow one another. Pure.

/** The source of a regular expression with the flag `u`. The long vowel mark belongs to no script. */
export const unspacedLetter = String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u30fc\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]`;

/** No letter of these scripts comes before it, so most texts need no closer look. */
const mayHold = /[\u0e00-\uffff]/;
const letter = new RegExp(unspacedLetter, 'u');
const letters = new RegExp(String.raw`${unspacedLetter}\p{M}*`, 'gu');
const runs = new RegExp(String.raw`(?:${unspacedLetter}\p{M}*)+|(?:(?!${unspacedLetter})[^])+`, 'gu');

export function hasUnspaced(text: string): boolean {
  return mayHold.test(text) && letter.test(text);
}

/** The text with spaces around each letter of these scripts; other texts unchanged. */
export function lettersApart(text: string): string {
  return hasUnspaced(text) ? text.replace(letters, ' $& ').replaceAll(/ {2,}/g, ' ').trim() : text;
}

/** The parts of a word that a search looks for: pairs of letters that follow one another, as is usual where words cannot be told apart. */
export function searchedParts(word: string): readonly string[] {
  if (!hasUnspaced(word)) return [word];
  return (word.match(runs) ?? []).flatMap((run) => {
    const single = run.match(letters) ?? [];
    return single.length < 2 ? [run] : single.slice(1).map((one, at) => `${single[at] ?? ''} ${one}`);
  });
}
