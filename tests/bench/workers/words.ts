// Random text like natural text: words of a fixed vocabulary, frequent and rare, the same in every run.

const VOCABULARY = 20_000;

export interface WordSource {
  text(words: number): string;
  /** A word of about the given rarity, from 0 (common) to 1 (rare). */
  word(rarity: number): string;
}

export function createWordSource(seed: number): WordSource {
  let state = seed >>> 0;
  // Mulberry32: small, fast, and good enough for choosing words.
  const random = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  // The rank is a power of a uniform random number: a few words make up most of the text, as in any language.
  const word = (rarity: number): string => `word${Math.floor(VOCABULARY ** Math.min(1, rarity)).toString(36)}`;
  return { word, text: (words) => Array.from({ length: words }, () => word(random())).join(' ') };
}
