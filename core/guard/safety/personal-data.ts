// Detects personal data: payment cards and bank accounts by their check digits, email addresses and phone numbers by their form. Pure. Only
// issued card ranges count, so timestamps and identifiers of the same length are kept.

import { rankOfPersonal } from './pattern-rule.ts';
import type { Span } from './text-view.ts';

// Issuer ranges and lengths according to ISO/IEC 7812: Visa, Mastercard, American Express, Discover, JCB, Diners Club, UnionPay.
const issued =
  /^(?:4(?:\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|62\d{14,17})$/;

export type PersonalKind = 'card' | 'iban' | 'email' | 'phone';

interface PersonalForm {
  readonly name: string;
  /** A text that does not match contains nothing of this kind. */
  readonly hint: RegExp;
  readonly pattern: RegExp;
  readonly accept?: (found: string) => boolean;
  /** Matches a last character that more text could extend. Most pieces of a text end in another character. */
  readonly lastCharacter: RegExp;
  /** Matches the part at the end of a text that more text could extend. */
  readonly ending: RegExp;
}

const digitsEnding = {
  lastCharacter: /[A-Z\d -]$/,
  ending: /(?<!(?<!\\)[A-Za-z0-9_.])(?:[A-Z]{1,2}|[A-Z]{2}\d[A-Z0-9 ]{0,45}|\d[\d -]{0,45})$/,
};

const forms: Readonly<Record<PersonalKind, PersonalForm>> = {
  card: {
    name: 'card-number',
    hint: /\d{4}[ -]?\d{4}/,
    pattern: /(?<!(?<!\\)[A-Za-z0-9_.])[2-6]\d{3}[ -]?\d{4,6}[ -]?\d{4,5}(?:[ -]?\d{1,7})?(?![A-Za-z0-9_]|\.\d)/g,
    accept: (found) => issued.test(found.replace(/[ -]/g, '')) && passesLuhn(found.replace(/[ -]/g, '')),
    ...digitsEnding,
  },
  iban: {
    name: 'iban',
    hint: /[A-Z]{2}\d{2} ?[A-Z0-9]{4} ?[A-Z0-9]{4}/,
    pattern: /(?<!(?<!\\)[A-Za-z0-9_])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?(?![A-Za-z0-9_])/g,
    accept: (found) => passesMod97(found.replaceAll(' ', '')),
    ...digitsEnding,
  },
  // Addresses of people. The user part of a repository or host address looks the same.
  email: {
    name: 'email',
    hint: /@/,
    pattern: /(?<![A-Za-z0-9._%+-])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9-])/g,
    lastCharacter: /[A-Za-z0-9._%+@-]$/,
    ending: /(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}(?:@[A-Za-z0-9.-]*)?$/,
  },
  // ITU-T E.164 with the plus. Without it, a phone number looks like any other number.
  phone: {
    name: 'phone',
    hint: /\+\d/,
    pattern: /(?<![A-Za-z0-9_+])\+[1-9]\d{0,2}(?:[ ./-]?\(?\d{1,5}\)?){2,6}(?!\d)/g,
    accept: (found) => /^\d{9,15}$/.test(found.replace(/\D/g, '')),
    lastCharacter: /[\d ()./+-]$/,
    ending: /\+[\d ()./-]{0,45}$/,
  },
};

export function findPersonalData(text: string, wanted: readonly PersonalKind[]): Span[] {
  const likely = wanted.filter((kind) => forms[kind].hint.test(text));
  return likely.flatMap((kind) => {
    const { name, pattern, accept } = forms[kind];
    const matches = [...text.matchAll(pattern)].filter(([found]) => accept?.(found) !== false);
    return matches.map((match) => spanOf(name, match));
  });
}

/** Returns the start of a number at the end of the text that more text could extend, or the text's length if there is none. */
export function openPersonalData(text: string, wanted: readonly PersonalKind[]): number {
  const tail = text.slice(-128);
  const opens = wanted.map((kind) => (forms[kind].lastCharacter.test(tail) ? forms[kind].ending.exec(tail)?.index : undefined));
  return text.length - tail.length + Math.min(tail.length, ...opens.map((open) => open ?? tail.length));
}

function spanOf(name: string, match: RegExpExecArray): Span {
  return { from: match.index, start: match.index, end: match.index + match[0].length, name, rank: rankOfPersonal };
}

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = digit * 2;
    sum += i % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** ISO 13616: moves country and check digits to the end and reads letters as 10 to 35. The remainder modulo 97 must be 1. */
function passesMod97(iban: string): boolean {
  if (iban.length < 15 || iban.length > 34) return false;
  let rest = 0;
  for (const char of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
