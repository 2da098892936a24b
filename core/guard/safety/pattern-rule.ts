// What a pattern rule is, and small measures of text that rules judge by. Rules hold regular expressions with a position, so
// they are made per redactor, never shared.

/** Fires at a literal trigger; the sticky `pattern` then decides on the spot, so benign text costs one scan and nothing else. */
export interface PatternRule {
  readonly name: string;
  /** Exact literals; each occurrence is one try. */
  readonly triggers: readonly string[];
  /** Sticky. With a capture group, the group is the secret and must end the match. */
  readonly pattern: RegExp;
  /** Characters before the trigger that belong to the match: class and most. */
  readonly before?: { readonly chars: RegExp; readonly max: number };
  /** Sticky. While it reaches the end of the text, more text could still make a match. */
  readonly reach: RegExp;
  /** Judges the secret; `next` is the character after it, empty at the end. */
  accept?(secret: string, next: string): boolean;
  /** Of overlapping finds the lowest rank gives its name. */
  readonly rank: number;
}

export const rankOfSecret = 0;
export const rankOfProvider = 1;
export const rankOfGeneric = 2;
export const rankOfPersonal = 3;

/** The start of a word; also after an escape such as \n in JSON or %3D in a URL, whose last character is a letter or digit. */
export const wordStart = String.raw`(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2}|\\[nrtbf]))`;

export const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);

/** Shannon entropy in bits a character. */
export function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** Judging the beginning is enough, and keeps a long hostile run cheap. */
const JUDGED_LENGTH = 200;
export const hasDigit = (text: string): boolean => /\d/.test(text);
export const looksRandom = (text: string): boolean => hasDigit(text) && entropy(text.slice(0, JUDGED_LENGTH)) >= 3;
