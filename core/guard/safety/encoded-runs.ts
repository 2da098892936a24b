// Long runs of base64 or hex in a text, decoded where that gives readable text: a token nobody registered is found in them by its own
// form. What decodes to anything but text (digests, images, keys) is left alone. Pure.

export interface EncodedRun {
  /** Where it ends in the original. */
  readonly end: number;
  /** What the run says. */
  readonly text: string;
  /** The stretch of the original that holds the characters `from` to `to` of `text`. */
  placeOf(from: number, to: number): { start: number; end: number };
}

const RUN_LENGTH_MIN = 20;
const PEEK_BYTES = 9;
const PADDING_MAX = 2;
/** Decoded of one text at most; what lies beyond is judged as it stands. */
const DECODED_BYTES_MAX = 512 * 1024;

const NONE = 0;
const HEX = 1;
const BASE64 = 2;

interface Alphabet {
  /** By character code: hex digits are base64 digits as well. */
  readonly kinds: Uint8Array;
  readonly digits: Uint8Array;
}

const { kinds, digits } = createAlphabet();

function createAlphabet(): Alphabet {
  const alphabet = { kinds: new Uint8Array(128), digits: new Uint8Array(128) };
  const chars = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.split('');
  for (const [value, char] of chars.entries()) {
    alphabet.kinds[char.charCodeAt(0)] = /[0-9A-Fa-f]/.test(char) ? HEX : BASE64;
    alphabet.digits[char.charCodeAt(0)] = value;
  }
  for (const [value, char] of [
    [62, '-'],
    [63, '_'],
  ] as const) {
    alphabet.kinds[char.charCodeAt(0)] = BASE64;
    alphabet.digits[char.charCodeAt(0)] = value;
  }
  return alphabet;
}

const isDigit = (code: number): boolean => code < 128 && kinds[code] !== NONE;

export function encodedRuns(text: string): EncodedRun[] {
  const runs: EncodedRun[] = [];
  let budget = DECODED_BYTES_MAX;
  // A run has a digit at every place: looking at one place in twenty is enough to pass words by.
  for (let start = 0; start + RUN_LENGTH_MIN <= text.length && budget > 0;) {
    const gap = lastGap(text, start, start + RUN_LENGTH_MIN);
    if (gap >= 0) {
      start = gap + 1;
      continue;
    }
    const end = endOfRun(text, start + RUN_LENGTH_MIN);
    // A line of words before it, or after it, is part of the run by its letters only.
    for (let from = start; end - from >= RUN_LENGTH_MIN;) {
      const run = decodeRun(text, from, end);
      if (run !== null) {
        runs.push(run);
        budget -= run.text.length;
      }
      if (run !== null && run.end === end) break;
      from = run?.end ?? nextLine(text, from, end);
    }
    start = end + 1;
  }
  return runs;
}

/** The last place between `from` and `to` that holds no digit, or -1. */
function lastGap(text: string, from: number, to: number): number {
  for (let i = to - 1; i >= from; i--) if (!isDigit(text.charCodeAt(i))) return i;
  return -1;
}

/** Where the next line of a folded run begins; its end where this is the last. */
function nextLine(text: string, from: number, end: number): number {
  const fold = text.indexOf('\n', from);
  if (fold < 0 || fold >= end) return end;
  let next = fold + 1;
  while (next < end && !isDigit(text.charCodeAt(next))) next += 1;
  return next;
}

/** The run goes on over line breaks and the indents after them. */
function endOfRun(text: string, from: number): number {
  let end = from;
  for (;;) {
    while (end < text.length && isDigit(text.charCodeAt(end))) end += 1;
    const next = continuation(text, end);
    if (next === end) return end;
    end = next;
  }
}

/** Where a run begins that more text could lengthen; the length of the text where none does. */
export function openRun(text: string): number {
  const padding = /=*$/.exec(text.slice(-PADDING_MAX))?.[0].length ?? 0;
  let open = text.length - padding;
  for (let end = open; ;) {
    let start = end;
    while (start > 0 && isDigit(text.charCodeAt(start - 1))) start -= 1;
    if (end < text.length - padding && end - start < RUN_LENGTH_MIN) return open;
    if (start < end) open = start;
    const fold = foldBefore(text, start);
    if (fold === start) return open === text.length - padding ? text.length : open;
    end = fold;
  }
}

/** Before the line break and indent that lead up to `at`; the same place where there are none. */
function foldBefore(text: string, at: number): number {
  let before = at;
  while (before > 0 && (text.charCodeAt(before - 1) === 0x20 || text.charCodeAt(before - 1) === 0x09)) before -= 1;
  if (before === text.length && text.charCodeAt(before - 1) === 0x0d) return before - 1;
  if (text.charCodeAt(before - 1) !== 0x0a) return at;
  before -= 1;
  return text.charCodeAt(before - 1) === 0x0d ? before - 1 : before;
}

/** After a line break and its indent, where the run goes on; the same place where it does not. */
function continuation(text: string, at: number): number {
  let next = at;
  if (text.charCodeAt(next) === 0x0d) next += 1;
  if (text.charCodeAt(next) !== 0x0a) return at;
  next += 1;
  while (text.charCodeAt(next) === 0x20 || text.charCodeAt(next) === 0x09) next += 1;
  const code = text.charCodeAt(next);
  return isDigit(code) ? next : at;
}

function decodeRun(text: string, start: number, end: number): EncodedRun | null {
  const hexEnd = endOfHex(text, start, end);
  if (hexEnd - start >= RUN_LENGTH_MIN && isReadable(hexByte, text, start)) return decoded(text, start, hexEnd, 'hex');
  for (let shift = 0; shift < 4; shift++) {
    if (isReadable(base64Byte, text, start + shift)) return decoded(text, start + shift, end, 'base64');
  }
  return null;
}

function endOfHex(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && (kinds[text.charCodeAt(at)] === HEX || /\s/.test(text.charAt(at)))) at += 1;
  return at;
}

/** One of the first bytes, without decoding the rest: most runs of a text are words and digests and end here. */
function base64Byte(text: string, start: number, index: number): number {
  const at = start + Math.floor(index / 3) * 4;
  const bits =
    ((digits[text.charCodeAt(at)] ?? 0) << 18) |
    ((digits[text.charCodeAt(at + 1)] ?? 0) << 12) |
    ((digits[text.charCodeAt(at + 2)] ?? 0) << 6) |
    (digits[text.charCodeAt(at + 3)] ?? 0);
  return (bits >> (16 - (index % 3) * 8)) & 0xff;
}

function hexByte(text: string, start: number, index: number): number {
  return Number.parseInt(text.slice(start + index * 2, start + index * 2 + 2), 16);
}

/** Printable ASCII, or the same as UTF-16: looks at no more bytes than it takes to tell. */
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

function decoded(text: string, start: number, end: number, encoding: 'base64' | 'hex'): EncodedRun {
  const raw = text.slice(start, end);
  const isFolded = /\s/.test(raw);
  const bytes = Buffer.from(raw.replace(/\s+/g, ''), encoding);
  const wide = bytes[0] === 0 ? 'be' : bytes[1] === 0 ? 'le' : null;
  // One character a byte: places can be counted, and forms of tokens are ASCII.
  const said = wide === null ? bytes.toString('latin1') : everySecond(bytes, wide === 'le' ? 0 : 1).toString('latin1');
  const bytesEach = wide === null ? 1 : 2;
  const placeOfChar = (index: number): number => start + (isFolded ? unfoldedPlace(raw, index) : Math.min(index, raw.length));
  return {
    end,
    text: said,
    placeOf: (from, to) => {
      const first = from * bytesEach;
      const last = to * bytesEach;
      if (encoding === 'hex') return { start: placeOfChar(first * 2), end: placeOfChar(last * 2 - 1) + 1 };
      const lastChar = Math.ceil(last / 3) * 4 - 1;
      const until = Math.min(end, placeOfChar(lastChar) + 1);
      const padding = until >= end - 1 ? (/^={1,2}/.exec(text.slice(end, end + 2))?.[0].length ?? 0) : 0;
      return { start: placeOfChar(Math.floor(first / 3) * 4), end: padding > 0 ? end + padding : until };
    },
  };
}

function everySecond(bytes: Buffer, from: number): Buffer {
  const half = Buffer.alloc(Math.floor(bytes.length / 2));
  for (let i = 0; i < half.length; i++) half[i] = bytes[i * 2 + from] ?? 0;
  return half;
}

/** The place in a folded run of its character number `index`, white space not counted. */
function unfoldedPlace(raw: string, index: number): number {
  let left = index;
  for (let at = 0; at < raw.length; at++) {
    if (/\s/.test(raw.charAt(at))) continue;
    if (left === 0) return at;
    left -= 1;
  }
  return raw.length;
}
