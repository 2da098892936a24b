// The form of a pattern rule, its matching at a trigger, and small measures of text that rules use.

import type { Span } from './text-view.ts';

/** Runs at a literal trigger; the sticky `pattern` then decides at that place, so harmless text costs one scan. */
export interface PatternRule {
  readonly name: string;
  /** Exact literals of three or more characters; each occurrence is tried. */
  readonly triggers: readonly string[];
  /** Sticky. With a capture group, the group is the secret and must end the match. */
  readonly pattern: RegExp;
  /** Matches the end of the few characters before the trigger that belong to the match. */
  readonly before?: RegExp;
  /** Sticky. If it reaches the end of the text, more text could still make a match. */
  readonly reach: RegExp;
  /** Judges the secret; `next` is the character after it, empty at the end. */
  accept?(secret: string, next: string): boolean;
  /** Of overlapping matches, the lowest rank gives the name. */
  readonly rank: number;
}

export const rankOfSecret = 0;
export const rankOfProvider = 1;
export const rankOfGeneric = 2;
/** Found by its place alone: any other finding has the better name. */
export const rankOfPlace = 2.5;
export const rankOfPersonal = 3;

export const triggerLengthMin = 3;
const BEFORE_MAX = 16;

/** Where the match whose trigger is at `at` would begin. */
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

/** More text could still complete a match that begins at the trigger. */
export function reachesEnd(rule: PatternRule, text: string, at: number): boolean {
  rule.reach.lastIndex = at;
  return rule.reach.test(text) && rule.reach.lastIndex === text.length;
}

/** All combinations of one of each: ['a', 'b'], ['-', '+'] gives a-, a+, b-, b+. */
export function everyWay(...choices: readonly (readonly string[] | string)[]): string[] {
  return choices.reduce<string[]>((ways, choice) => ways.flatMap((way) => Array.from(choice).map((next) => way + next)), ['']);
}

export const lettersAndDigits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** The start of a word; also after an escape such as \n in JSON or %3D in a URL, whose last character is a letter or digit. */
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

/** The beginning decides, which keeps a long hostile run cheap. */
const JUDGED_LENGTH = 200;
export const hasDigit = (text: string): boolean => /\d/.test(text);
export const looksRandom = (text: string): boolean => hasDigit(text) && entropy(text.slice(0, JUDGED_LENGTH)) >= 3;

/** A key of random letters of both cases and digits, as opposed to words of a name. */
export const hasEveryKind = (text: string): boolean => hasDigit(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);

/** As a whole. */
export const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Words and numbers with separators or as camel case: `Some-long-anchor-2024`. */
const wordy = /^(?:(?:[A-Z]?[a-z]{2,}|\d{1,4}|[A-Z]{2,}|[a-z])(?:[-_.+%/=:~]|$|(?=[A-Z0-9])))+$/;

/** Random enough that its place says what it is, digests and UUIDs included. */
export function looksDense(text: string): boolean {
  const judged = text.slice(0, JUDGED_LENGTH);
  return uuid.test(text) || isJumble(text) || (looksRandom(text) && !wordy.test(judged));
}

/** Letters whose case changes at random, unlike in a name: at almost every other one. */
export function isJumble(value: string): boolean {
  if (value.length < 12 || value.length > 100 || !/^[A-Za-z]+$/.test(value)) return false;
  const changes = Array.from(value.slice(1)).filter((letter, at) => /[a-z]/.test(letter) !== /[a-z]/.test(value[at] ?? '')).length;
  return changes / value.length > 0.45 && entropy(value) >= 3;
}
