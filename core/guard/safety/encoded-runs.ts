// Decodes long runs of base64, base32 or hex if the result is readable text, so that an unregistered token in it is found by its form.
// Ignores runs that decode to anything but text (digests, images, keys). Pure.

import { base32Digits, fromBase32 } from './base32.ts';
import type { TextView } from './text-view.ts';

const RUN_LENGTH_MIN = 20;
const PEEK_BYTES = 9;
/** The maximum number of bytes decoded per text. The rest is checked only in its encoded form. */
const DECODED_BYTES_MAX = 512 * 1024;
/** A stream holds back less than this. */
const OPEN_LENGTH_MAX = 40_000;

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_';
/** By character code: the value of a base64 digit plus one, or zero for any other character. The two base64url digits come last. */
const values = new Uint8Array(128);
for (const [place, digit] of digits.split('').entries()) values[digit.charCodeAt(0)] = (place < 64 ? place : place - 2) + 1;

const isDigit = (code: number): boolean => code < 128 && values[code] !== 0;

const isHexCode = (code: number): boolean =>
  isBlank(code) || (code > 0x2f && code < 0x3a) || ((code | 0x20) > 0x60 && (code | 0x20) < 0x67);
const isUpperCode = (code: number): boolean => isBlank(code) || (code > 0x31 && code < 0x38) || (code > 0x40 && code < 0x5b);
const isLowerCode = (code: number): boolean => isBlank(code) || (code > 0x31 && code < 0x38) || (code > 0x60 && code < 0x7b);
const isBlank = (code: number): boolean => code === 0x20 || (code > 0x08 && code < 0x0e);

/** The end of the characters of one kind around a position. Each text is read once, however often it is asked for. */
class Extent {
  readonly #text: string;
  readonly #fits: (code: number) => boolean;
  #from = 0;
  #to = 0;

  constructor(text: string, fits: (code: number) => boolean) {
    this.#text = text;
    this.#fits = fits;
  }

  endFrom(start: number): number {
    if (start >= this.#from && start < this.#to) return this.#to;
    let at = start;
    while (at < this.#text.length && this.#fits(this.#text.charCodeAt(at))) at += 1;
    this.#from = start;
    return (this.#to = at);
  }
}

/** Base32 is in one case; a digit fits both. */
interface Extents {
  readonly hex: Extent;
  readonly upper: Extent;
  readonly lower: Extent;
}

function extentsOf(text: string): Extents {
  return { hex: new Extent(text, isHexCode), upper: new Extent(text, isUpperCode), lower: new Extent(text, isLowerCode) };
}

/** Regular expressions would run out of memory on a run of some megabytes. */
function endOfRun(text: string, start: number): number {
  let end = start;
  for (let at = start; at < text.length;) {
    while (at < text.length && isDigit(text.charCodeAt(at))) at += 1;
    end = at;
    if (text[at] === '\r') at += 1;
    if (text[at] !== '\n') break;
    at += 1;
    while (text[at] === ' ' || text[at] === '\t') at += 1;
    if (!isDigit(text.charCodeAt(at))) break;
  }
  return end;
}

/** A run at the end of a text that more text could extend. Matched backwards. */
const openEnd = /(?<=((?:[\w+/-]{20,}\r?\n[ \t]*(?:[\w+/-]+\r?\n[ \t]*)*)?(?:[\w+/-]+\r|[\w+/-]*={0,2})))/y;

/** Returns the start of a run that more text could extend, or the text's length if there is none. */
export function openRun(text: string): number {
  const tail = text.slice(-OPEN_LENGTH_MAX);
  openEnd.lastIndex = tail.length;
  const open = openEnd.exec(tail)?.[1] ?? '';
  return /[\w+/-]/.test(open) ? text.length - open.length : text.length;
}

export function encodedRuns(text: string): TextView[] {
  const found: TextView[] = [];
  let budget = DECODED_BYTES_MAX;
  let extents: Extents | undefined;
  // Every character of a run is a digit, so checking one position in twenty is enough to skip words.
  for (let start = 0; start + RUN_LENGTH_MIN <= text.length && budget > 0;) {
    const gap = lastGap(text, start, start + RUN_LENGTH_MIN);
    if (gap >= 0) {
      start = gap + 1;
      continue;
    }
    const end = endOfRun(text, start);
    extents ??= extentsOf(text);
    // The letters of a line of words before or after a run look like part of it.
    for (let from = start; end - from >= RUN_LENGTH_MIN;) {
      const run = decodeRun(text, from, end, extents);
      if (run !== null) {
        found.push(run.view);
        budget -= run.view.text.length;
      }
      from = run === null ? nextLine(text, from, end) : run.end;
    }
    start = end + 1;
  }
  return found;
}

/** Returns the last position between `from` and `to` that is not a digit, or -1. */
function lastGap(text: string, from: number, to: number): number {
  for (let i = to - 1; i >= from; i--) if (!isDigit(text.charCodeAt(i))) return i;
  return -1;
}

/** Returns the start of the next line of a folded run, or the end of the run if this line is the last. */
function nextLine(text: string, from: number, end: number): number {
  const fold = /\n[ \t]*/.exec(text.slice(from, end));
  return fold === null ? end : from + fold.index + fold[0].length;
}

function decodeRun(
  text: string,
  start: number,
  end: number,
  { hex: hexes, upper, lower }: Extents,
): { view: TextView; end: number } | null {
  const hexEnd = Math.min(end, hexes.endFrom(start));
  if (hexEnd - start >= RUN_LENGTH_MIN && isReadable(hexByte, text, start)) return { view: decoded(text, start, hexEnd, hex), end: hexEnd };
  const base32End = Math.min(end, Math.max(upper.endFrom(start), lower.endFrom(start)));
  // The next line may be a word that is not part of the run.
  const isBase32 = base32End - start >= RUN_LENGTH_MIN && (base32End === end || text[base32End - 1] === '\n');
  for (let shift = 0; isBase32 && shift < 8; shift++) {
    if (isReadable(base32Byte, text, start + shift)) return { view: decoded(text, start + shift, base32End, base32), end: base32End };
  }
  for (let shift = 0; shift < 4; shift++) {
    if (isReadable(base64Byte, text, start + shift)) return { view: decoded(text, start + shift, end, base64), end };
  }
  return null;
}

/** Decodes a single byte near the start, as below. Its bits are in two or three characters. */
function base32Byte(text: string, start: number, index: number): number {
  const at = start + Math.floor((index * 8) / 5);
  let bits = 0;
  for (let i = at; i < at + 3; i++) bits = (bits << 5) | Math.max(0, base32Digits.indexOf(text.charAt(i).toUpperCase()));
  return (bits >> (7 - ((index * 8) % 5))) & 0xff;
}

/** Decodes a single byte near the start. This is enough to rule out most runs, which are words and digests. */
function base64Byte(text: string, start: number, index: number): number {
  const at = start + Math.floor(index / 3) * 4;
  let bits = 0;
  for (let i = at; i < at + 4; i++) bits = (bits << 6) | Math.max(0, (values[text.charCodeAt(i)] ?? 0) - 1);
  return (bits >> (16 - (index % 3) * 8)) & 0xff;
}

function hexByte(text: string, start: number, index: number): number {
  return Number.parseInt(text.slice(start + index * 2, start + index * 2 + 2), 16);
}

/** Returns whether the run starts with printable ASCII, in single bytes or as UTF-16. Reads no more bytes than necessary. */
function isReadable(byteAt: (text: string, start: number, index: number) => number, text: string, start: number): boolean {
  let isNarrow = true;
  let isLittle = true;
  let isBig = true;
  for (let index = 0; index < PEEK_BYTES; index++) {
    const byte = byteAt(text, start, index);
    const isText = (byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d;
    isNarrow &&= isText;
    isLittle &&= index % 2 === 0 ? isText : byte === 0;
    isBig &&= index % 2 === 0 ? byte === 0 : isText;
    if (!isNarrow && !isLittle && !isBig) return false;
  }
  return true;
}

/** The number of bytes that a group of characters encodes. */
interface Encoding {
  readonly chars: number;
  readonly bytes: number;
  readonly padding: RegExp;
  readonly decode: (text: string) => Buffer;
}
const hex: Encoding = { chars: 2, bytes: 1, padding: /^/, decode: (text) => Buffer.from(text, 'hex') };
const base64: Encoding = { chars: 4, bytes: 3, padding: /^={0,2}/, decode: (text) => Buffer.from(text, 'base64') };
const base32: Encoding = { chars: 8, bytes: 5, padding: /^={0,6}/, decode: fromBase32 };

function decoded(text: string, start: number, end: number, { chars, bytes: bytesEach, padding, decode }: Encoding): TextView {
  const raw = text.slice(start, end);
  /** The positions of the characters of a folded run. */
  const places = /\s/.test(raw) ? Array.from(raw.matchAll(/\S/g), ({ index }) => index) : null;
  const length = places?.length ?? raw.length;
  const place = (index: number): number => (index >= length ? raw.length : (places?.[index] ?? index));
  const padded = end + (padding.exec(text.slice(end, end + 6))?.[0].length ?? 0);
  const bytes = decode(raw.replace(/\s+/g, ''));
  const width = bytes[0] === 0 || bytes[1] === 0 ? 2 : 1;
  return {
    // One character for each byte or pair of bytes, so that positions can be computed. Tokens consist of ASCII.
    text: width === 1 ? bytes.toString('latin1') : wideText(bytes),
    reachesEnd: false,
    startOf: (index) => start + place(Math.floor((index * width) / bytesEach) * chars),
    endOf: (index) => {
      const last = Math.ceil((index * width) / bytesEach) * chars - 1;
      return last >= length - 1 ? padded : start + place(last) + 1;
    },
  };
}

function wideText(bytes: Buffer): string {
  const even = bytes.subarray(0, bytes.length - (bytes.length % 2));
  return (bytes[0] === 0 ? even.swap16() : even).toString('utf16le');
}
