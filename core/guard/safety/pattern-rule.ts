// The form of a pattern rule, matching at a trigger, and small measures of text that rules use.

import type { Span } from './text-view.ts';

/** A rule runs at a literal trigger. The sticky `pattern` then decides at that position, so harmless text costs only one scan. */
export interface PatternRule {
  readonly name: string;
  /** Exact literals of three or more characters. The rule is tried at each occurrence. */
  readonly triggers: readonly string[];
  /** Sticky. If it has a capture group, the group is the secret and must end the match. */
  readonly pattern: RegExp;
  /** Matches the end of the few characters before the trigger that belong to the match. */
  readonly before?: RegExp;
  /** Sticky. If it matches up to the end of the text, more text could still complete a match. */
  readonly reach: RegExp;
  /** Judges the secret. `next` is the character after it, or empty at the end. */
  accept?(secret: string, next: string): boolean;
  /** True if the triggers are words that may stand above a column of secrets. */
  readonly mayHeadColumn?: boolean;
  /** The lowest rank of overlapping matches determines the name. */
  readonly rank: number;
}

export const rankOfSecret = 0;
export const rankOfProvider = 1;
export const rankOfGeneric = 2;
/** Found by its place alone. The name of any other finding is preferred. */
export const rankOfPlace = 2.5;
export const rankOfPersonal = 3;

export const triggerLengthMin = 3;
const BEFORE_MAX = 80;

/** Returns the start of a match whose trigger is at `at`. */
export function beginningOf(rule: PatternRule, text: string, at: number): number {
  return at - (rule.before?.exec(text.slice(Math.max(0, at - BEFORE_MAX), at))?.[0].length ?? 0);
}

export function matchRule(rule: PatternRule, text: string, from: number): Span | null {
  rule.pattern.lastIndex = from;
  const match = rule.pattern.exec(text);
  if (match === null) return null;
  const end = match.index + match[0].length;
  const secret = match[1] ?? match[0];
  if (rule.accept !== undefined && !rule.accept(secret, text.charAt(end))) return null;
  return { from, start: end - secret.length, end, name: rule.name, rank: rule.rank };
}

/** Returns whether more text could still complete a match that begins at the trigger. */
export function reachesEnd(rule: PatternRule, text: string, at: number): boolean {
  rule.reach.lastIndex = at;
  return rule.reach.test(text) && rule.reach.lastIndex === text.length;
}

/** Returns all combinations of one element each: ['a', 'b'], ['-', '+'] gives a-, a+, b-, b+. */
export function everyWay(...choices: readonly (readonly string[] | string)[]): string[] {
  return choices.reduce<string[]>((ways, choice) => ways.flatMap((way) => Array.from(choice).map((next) => way + next)), ['']);
}

export const lettersAndDigits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** The start of a word, also after an escape such as \n in JSON or %3D in a URL, which ends in a letter or digit. */
export const wordStart = String.raw`(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2}|\\[nrtbf]))`;

export const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);

/** Shannon entropy in bits per character. */
export function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** Only the first characters are judged, which keeps long hostile runs cheap. */
const JUDGED_LENGTH = 200;
export const hasDigit = (text: string): boolean => /\d/.test(text);
export const looksRandom = (text: string): boolean => hasDigit(text) && entropy(text.slice(0, JUDGED_LENGTH)) >= 3;

/** Returns whether the text mixes both cases and digits like a random key, unlike the words of a name. */
export const hasEveryKind = (text: string): boolean => hasDigit(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);

/** Matches a whole text. */
export const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Words and numbers with separators or in camel case: `Some-long-anchor-2024`. */
const wordy = /^(?:(?:[A-Z]?[a-z]{2,}|\d{1,4}|[A-Z]{2,}|[a-z])(?:[-_.+%/=:~]|$|(?=[A-Z0-9])))+$/;

/** Returns whether the text is random enough to be a secret in a place that holds secrets. Includes digests and UUIDs. */
export function looksDense(text: string): boolean {
  const judged = text.slice(0, JUDGED_LENGTH);
  return uuid.test(text) || isJumble(text) || (looksRandom(text) && !wordy.test(judged));
}

/** Returns whether the case of letters changes at random, at almost every other letter, unlike in a name. */
export function isJumble(value: string): boolean {
  if (value.length < 12 || value.length > 100 || !/^[A-Za-z]+$/.test(value)) return false;
  const changes = Array.from(value.slice(1)).filter((letter, at) => /[a-z]/.test(letter) !== /[a-z]/.test(value[at] ?? '')).length;
  return changes / value.length > 0.45 && entropy(value) >= 3;
}
