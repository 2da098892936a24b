// Personal data: payment cards and bank accounts by their check digits, mail addresses and telephone numbers by their form. Pure.
// Of cards only issued number ranges count, so that timestamps and identifiers of the same length stay.

import { rankOfPersonal } from './pattern-rule.ts';
import type { Span } from './span.ts';

// Issuer ranges and lengths after ISO/IEC 7812: Visa, Mastercard, American Express, Discover, JCB, Diners Club, UnionPay.
const issued =
  /^(?:4(?:\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|62\d{14,17})$/;

export const personalKinds = ['card', 'iban', 'email', 'phone'] as const;
export type PersonalKind = (typeof personalKinds)[number];

const forms: Readonly<
  Record<PersonalKind, { readonly name: string; readonly pattern: RegExp; readonly accept: (found: string) => boolean }>
> = {
  card: {
    name: 'card-number',
    pattern: /(?<!(?<!\\)[A-Za-z0-9_.])[2-6]\d{3}[ -]?\d{4,6}[ -]?\d{4,5}(?:[ -]?\d{1,7})?(?![A-Za-z0-9_]|\.\d)/g,
    accept: (found) => issued.test(found.replace(/[ -]/g, '')) && passesLuhn(found.replace(/[ -]/g, '')),
  },
  iban: {
    name: 'iban',
    pattern: /(?<!(?<!\\)[A-Za-z0-9_])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?(?![A-Za-z0-9_])/g,
    accept: (found) => passesMod97(found.replaceAll(' ', '')),
  },
  // Addresses of people; what stands before the @ of a repository or a user at a host is one as well, and cannot be told apart.
  email: {
    name: 'email',
    pattern: /(?<![A-Za-z0-9._%+-])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9-])/g,
    accept: () => true,
  },
  // ITU-T E.164 with the plus: without it nothing tells a number from any other.
  phone: {
    name: 'phone',
    pattern: /(?<![A-Za-z0-9_+])\+[1-9]\d{0,2}(?:[ ./-]?\(?\d{1,5}\)?){2,6}(?!\d)/g,
    accept: (found) => /^\d{9,15}$/.test(found.replace(/\D/g, '')),
  },
};

/** A text without any of these has nothing of the kind. */
const hints: Readonly<Record<PersonalKind, RegExp>> = {
  card: /\d{4}[ -]?\d{4}/,
  iban: /[A-Z]{2}\d{2} ?[A-Z0-9]{4} ?[A-Z0-9]{4}/,
  email: /@/,
  phone: /\+\d/,
};

export function findPersonalData(text: string, wanted: readonly PersonalKind[]): Span[] {
  const spans: Span[] = [];
  for (const kind of wanted) {
    if (!hints[kind].test(text)) continue;
    const { name, pattern, accept } = forms[kind];
    for (const match of text.matchAll(pattern)) if (accept(match[0])) spans.push(spanOf(name, match));
  }
  return spans;
}

/** Where a number that may still go on starts, at the end of a text; the length of the text where none does. */
export function openPersonalData(text: string, wanted: readonly PersonalKind[]): number {
  const tail = text.slice(-128);
  let open = tail.length;
  for (const kind of wanted) {
    // A number that goes on ends in one of its characters: most pieces of a text end in a letter or a sign.
    if (lastCharacter[kind].test(tail)) open = Math.min(open, endings[kind].exec(tail)?.index ?? tail.length);
  }
  return text.length - tail.length + open;
}

const lastOfDigits = /[A-Z\d -]$/;
const lastCharacter: Readonly<Record<PersonalKind, RegExp>> = {
  card: lastOfDigits,
  iban: lastOfDigits,
  email: /[A-Za-z0-9._%+@-]$/,
  phone: /[\d ()./+-]$/,
};

const digitsEnd = /(?<!(?<!\\)[A-Za-z0-9_.])(?:[A-Z]{1,2}|[A-Z]{2}\d[A-Z0-9 ]{0,45}|\d[\d -]{0,45})$/;
const endings: Readonly<Record<PersonalKind, RegExp>> = {
  card: digitsEnd,
  iban: digitsEnd,
  email: /(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}(?:@[A-Za-z0-9.-]*)?$/,
  phone: /\+[\d ()./-]{0,45}$/,
};

function spanOf(name: string, match: RegExpExecArray): Span {
  return { start: match.index, end: match.index + match[0].length, name, rank: rankOfPersonal };
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

/** ISO 13616: country and check digits last, letters as 10 to 35, remainder of 97 is 1. */
function passesMod97(iban: string): boolean {
  if (iban.length < 15 || iban.length > 34) return false;
  let rest = 0;
  for (const char of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
