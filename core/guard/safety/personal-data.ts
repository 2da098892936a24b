// Payment card numbers and bank accounts, recognised by their check digits. Pure.
// Only issued number ranges count, so that timestamps and identifiers of the same length stay.

import { rankOfPersonal } from './pattern-rule.ts';
import type { Span } from './span.ts';

// Issuer ranges and lengths after ISO/IEC 7812: Visa, Mastercard, American Express, Discover, JCB, Diners Club, UnionPay.
const issued =
  /^(?:4(?:\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|62\d{14,17})$/;

export function findPersonalData(text: string): Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(/(?<!(?<!\\)[A-Za-z0-9_.])[2-6]\d{3}[ -]?\d{4,6}[ -]?\d{4,5}(?:[ -]?\d{1,7})?(?![A-Za-z0-9_]|\.\d)/g)) {
    const digits = match[0].replace(/[ -]/g, '');
    if (issued.test(digits) && passesLuhn(digits)) spans.push(spanOf('card-number', match));
  }
  for (const match of text.matchAll(/(?<!(?<!\\)[A-Za-z0-9_])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?(?![A-Za-z0-9_])/g)) {
    if (passesMod97(match[0].replaceAll(' ', ''))) spans.push(spanOf('iban', match));
  }
  return spans;
}

/** Where a number that may still go on starts, at the end of a text; the length of the text where none does. */
export function openPersonalData(text: string): number {
  const tail = text.slice(-48);
  const open = /(?<!(?<!\\)[A-Za-z0-9_.])(?:[A-Z]{1,2}|[A-Z]{2}\d[A-Z0-9 ]*|\d[\d -]*)$/.exec(tail);
  return text.length - tail.length + (open?.index ?? tail.length);
}

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
