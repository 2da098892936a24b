// The forms of a secret value that cannot be undone in place: base64, base32, base85 and uuencode at each offset, hex, reversed, ROT13. Pure. Escapes
// (JSON, URL, HTML, shells) are undone in the text instead, see unescaped-view.ts.

import { toBase32 } from './base32.ts';

export interface SecretForm {
  /** The value without the skipped characters. */
  readonly text: string;
  /** True if the character after a match also contains bits of the value, as in base64 and base32. */
  readonly sharesItsEnd: boolean;
}

/** Characters that a screen does not show. */
const unseen = [
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0xfe00, 0xfe0f],
]
  .map(([from = 0, to = 0]) => String.fromCharCode(...Array.from({ length: to - from + 1 }, (_, index) => from + index)))
  .join('');
/** Characters skipped in both values and text: white space, quotes, backslashes, plus, and what cannot be seen. */
export const passedOver = `\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'"\`\\+${unseen}`;
const passed = new Set(passedOver);
/** A value with fewer remaining characters cannot be recognized. */
export const formLengthMin = 8;

/** A line of a multi-line secret that is at least this long counts as a separate secret. */
const LINE_LENGTH_MIN = 16;
const LINES_MAX = 200;

/** Returns an empty list if too little of the value remains to recognize it. */
export function secretForms(value: string): SecretForm[] {
  const forms = new Map<string, SecretForm>();
  const add = (text: string, sharesItsEnd: boolean): void => {
    const squeezed = squeeze(text);
    if (squeezed.length >= formLengthMin && !forms.has(squeezed)) forms.set(squeezed, { text: squeezed, sharesItsEnd });
  };
  add(value, false);
  add([...value].reverse().join(''), false);
  add(value.replace(/[a-z]/gi, rotate), false);
  const lines = value.split(/\r?\n/);
  if (lines.length > 1) for (const line of lines.slice(0, LINES_MAX)) if (isTelling(line)) add(line, false);
  // One character per byte, as in decoded runs and binary content.
  for (const bytes of [Buffer.from(value, 'utf8'), Buffer.from(value, 'utf16le'), Buffer.from(value, 'utf16le').swap16()]) {
    add(bytes.toString('hex'), false);
    add(bytes.toString('hex').toUpperCase(), false);
    for (const text of [...base64Forms(bytes), ...base32Forms(bytes)]) add(text, true);
    add(bytes.toString('latin1'), false);
  }
  for (const text of [...uuencodeForms(Buffer.from(value)), ...base85Forms(Buffer.from(value))]) add(text, false);
  return [...forms.values()];
}

export const isRecognizable = (value: string): boolean => squeeze(value).length >= formLengthMin;

const squeeze = (text: string): string =>
  text
    .split('')
    .filter((unit) => !passed.has(unit))
    .join('');

/**
 * Returns the base64 of the bytes at each of the three offsets they can have in a longer encoding, in both alphabets. Each form is cut to
 * the characters that depend only on the secret.
 */
function base64Forms(bytes: Buffer): string[] {
  const forms: string[] = [];
  for (const before of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const own = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    forms.push(own, own.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return forms;
}

/** The same in base32 (RFC 4648), at its five offsets, in both cases. */
function base32Forms(bytes: Buffer): string[] {
  const forms: string[] = [];
  for (let before = 0; before < 5; before++) {
    const encoded = toBase32(Buffer.concat([Buffer.alloc(before), bytes]));
    const own = encoded.slice(Math.ceil((before * 8) / 5), Math.floor(((before + bytes.length) * 8) / 5));
    forms.push(own, own.toLowerCase());
  }
  return forms;
}

/** Base64 with the characters from the space on. A space is written as one or as a grave accent, and is skipped. */
function uuencodeForms(bytes: Buffer): string[] {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  return base64Forms(bytes)
    .filter((_, at) => at % 2 === 0)
    .map((form) => form.replace(/./g, (digit) => String.fromCharCode(0x20 + digits.indexOf(digit))));
}

const BASE85_BYTES = 4;
const BASE85_CHARS = 5;
/** Ascii85, the base85 of git and Python (RFC 1924), and Z85. */
const base85Digits = [
  Array.from({ length: 85 }, (_, at) => String.fromCharCode(0x21 + at)).join(''),
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~',
  '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#',
];

/** The whole groups of the value at each of the four offsets. Up to three bytes at each end share a group with what is around them. */
function base85Forms(bytes: Buffer): string[] {
  const forms: string[] = [];
  for (let skipped = 0; skipped < BASE85_BYTES; skipped++) {
    const groups: number[] = [];
    for (let at = skipped; at + BASE85_BYTES <= bytes.length; at += BASE85_BYTES) groups.push(bytes.readUInt32BE(at));
    for (const digits of base85Digits) forms.push(groups.map((group) => base85Group(group, digits)).join(''));
  }
  return forms;
}

function base85Group(group: number, digits: string): string {
  let text = '';
  for (let left = group, at = 0; at < BASE85_CHARS; at++, left = Math.floor(left / 85)) text = (digits[left % 85] ?? '') + text;
  return text;
}

function isTelling(line: string): boolean {
  return line.trim().length >= LINE_LENGTH_MIN && !line.startsWith('-----');
}

const rotate = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) + (letter.toLowerCase() < 'n' ? 13 : -13));
