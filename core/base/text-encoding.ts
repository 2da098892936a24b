// Decodes the text of files in the encodings that people have: UTF-8, UTF-16 with its mark, and Windows-1252, which bank exports and older
// office programs write. Encodes it again without changing a byte that was not edited. Pure.

export type TextEncoding = 'UTF-8' | 'UTF-16LE' | 'UTF-16BE' | 'Windows-1252';

export interface DecodedText {
  /** Includes a byte order mark, so that it is written back. */
  readonly text: string;
  readonly encoding: TextEncoding;
  /** False if the bytes contain broken UTF-8: it is replaced in the text, which would damage the file if it were written back. */
  readonly isExact: boolean;
}

/** The letters of the bytes 0x80 to 0x9f; the other bytes are their own code points (WHATWG Encoding, index windows-1252). */
const letters = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';
const FIRST = 0x80;
/** A NUL near the start means binary, as in git and grep. */
const SNIFF_BYTES = 8192;
const byteOf: ReadonlyMap<string, number> = new Map(Array.from(letters, (letter, at) => [letter, FIRST + at]));

export interface PartOfText {
  /** The first bytes of the whole text, if the bytes are a later part of it. */
  readonly mark?: Uint8Array;
  /** Whether the bytes may end within a character, which is then left out. */
  readonly isCut?: boolean;
}

/** Null if the bytes are not text. */
export function decodeText(bytes: Uint8Array, { mark = bytes, isCut = false }: PartOfText = {}): DecodedText | null {
  const encoding = wideEncodingOf(mark) ?? 'UTF-8';
  const isWide = encoding !== 'UTF-8';
  if (!isWide && bytes.subarray(0, SNIFF_BYTES).includes(0)) return null;
  try {
    const text = new TextDecoder(encoding, { ignoreBOM: true, fatal: true }).decode(bytes, { stream: isCut });
    return isWide && text.includes('\0') ? null : { text, encoding, isExact: true };
  } catch {
    const text = new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes, { stream: isCut });
    if (isWide || isMostlyRight(text)) return { text, encoding, isExact: false };
    return hasControls(bytes) ? null : { text: decodeSingleBytes(bytes), encoding: 'Windows-1252', isExact: true };
  }
}

/** The encoding in which all texts can be written, or null if they differ. ASCII letters are the same in UTF-8 and Windows-1252. */
export function commonEncoding(texts: readonly DecodedText[]): TextEncoding | null {
  const used = new Set(texts.filter(({ text }) => !/^\p{ASCII}*$/u.test(text)).map(({ encoding }) => encoding));
  return used.size > 1 ? null : ([...used][0] ?? 'UTF-8');
}

/** Null if the encoding has no such letter. */
export function encodeText(text: string, encoding: TextEncoding): Uint8Array | null {
  if (encoding === 'UTF-8') return Buffer.from(text);
  if (encoding === 'Windows-1252') return encodeSingleBytes(text);
  const bytes = Buffer.from(text, 'utf16le');
  return encoding === 'UTF-16LE' ? bytes : bytes.swap16();
}

/** Whether the first bytes of a text are the mark of UTF-16; without one it is not recognised. */
export function isUtf16(head: Uint8Array): boolean {
  return wideEncodingOf(head) !== null;
}

function wideEncodingOf(mark: Uint8Array): 'UTF-16LE' | 'UTF-16BE' | null {
  if (mark[0] === 0xff && mark[1] === 0xfe) return 'UTF-16LE';
  return mark[0] === 0xfe && mark[1] === 0xff ? 'UTF-16BE' : null;
}

/** Where most letters beyond ASCII are right, the encoding is, and the text is damaged. */
function isMostlyRight(text: string): boolean {
  let balance = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= FIRST) balance += code === 0xfffd ? -1 : 1;
  }
  return balance >= 0;
}

/** Control characters that no text has; compressed and encrypted content is full of them. */
function hasControls(bytes: Uint8Array): boolean {
  return bytes.some((byte) => byte < 0x20 && (byte < 0x08 || (byte > 0x0d && byte !== 0x1a && byte !== 0x1b)));
}

/** Not by `TextDecoder`, which reads these bytes as Latin-1 in some versions of Node. */
function decodeSingleBytes(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return text.replaceAll(/[\u0080-\u009f]/g, (letter) => letters[letter.charCodeAt(0) - FIRST] ?? letter);
}

function encodeSingleBytes(text: string): Uint8Array | null {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const byte = code < FIRST || (code > 0x9f && code <= 0xff) ? code : byteOf.get(text[at] ?? '');
    if (byte === undefined) return null;
    bytes[at] = byte;
  }
  return bytes;
}
