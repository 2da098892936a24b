// A text with its escapes undone (JSON, C, URL, HTML, quoted-printable), without characters that show nothing and the colours of a terminal,
// and the origin of each character, so that a finding in the view can be redacted in the original. Includes only the text around escapes, with gaps between. Pure.

import { gap, type TextView } from './text-view.ts';

const escapes =
  // oxlint-disable-next-line no-control-regex -- a terminal's own escapes begin with a control character
  /\\(?:u\{([0-9A-Fa-f]{1,6})\}|U([0-9A-Fa-f]{8})|u([0-9A-Fa-f]{4})|x[0-9A-Fa-f]{2}(?:\\x[0-9A-Fa-f]{2})*|([0-7]{3})|([abefnrtv])|([\\"'/&%$=?#!]))|(?:%[0-9A-Fa-f]{2})+|(?:=[0-9A-F]{2})+|(?<!=)=\r?\n(?=\S)|&(?:#[xX]0{0,16}([0-9A-Fa-f]{1,6})|#0{0,16}([0-9]{1,7})|(amp|lt|gt|quot|apos|nbsp));|(\x1b\[[\d;:?]{0,40}[ -/]?[@-~]|[\xad\u200b-\u200d\u2060\ufeff])|((?<=[A-Za-z_])[\u0391-\u03c9\u0405-\u0458]{1,9}|[\u0391-\u03c9\u0405-\u0458]{1,9}(?=[A-Za-z_])|[\uff21-\uff5a]{3,20})/g;

/** Letters of other scripts that look like a Latin one, in the order of `alike`. */
const lookalikes = 'асеоркухіѕјԁԛԝАВСЕНІЈКМОРЅТХУαοερντυιΑΒΕΖΗΙΚΜΝΟΡΤΥΧ';
const alike = 'aceopkyxisjdqwABCEHIJKMOPSTXYaoepvtuiABEZHIKMNOPTYX';
/** Matches letters of two scripts side by side, and full-width letters. Ordinary text has neither. */
const mixedScripts = /[A-Za-z_][\u0391-\u03c9\u0405-\u0458]|[\u0391-\u03c9\u0405-\u0458][A-Za-z_]|[\uff21-\uff5a]{3}/;

/** Signs without width, which may stand within a word. */
const unseen = ['\xad', '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff'];

/** An escape of quoted-printable (RFC 2045), or the end of a line that continues. */
const quotedPrintable = /=(?:[0-9A-F]{2}|\r?\n)/;

const letters: Readonly<Record<string, string>> = { a: '\x07', b: '\b', e: '\x1b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** Returns null for a text without escapes. `reach` is the number of characters included before and after each escape. */
export function unescapedView(text: string, reach: number): TextView | null {
  if (!mayHoldEscape(text)) return null;
  escapes.lastIndex = 0;
  let match = escapes.exec(text);
  if (match === null) return null;
  const writer = new ViewWriter(text, reach);
  for (; match !== null; match = escapes.exec(text)) writer.add(match);
  return writer.finish();
}

/** Searching for single characters is many times faster than matching a pattern, and most text contains none of them. */
function mayHoldEscape(text: string): boolean {
  return ['\\', '%', '&', '\x1b', ...unseen].some((sign) => text.includes(sign)) || quotedPrintable.test(text) || mixedScripts.test(text);
}

/** Returns the start of an escape that more text could complete, or the text's length if there is none. */
export function openEscape(text: string): number {
  const tail = text.slice(-48);
  if (!mayHoldEscape(tail) && !tail.includes('=')) return text.length;
  const partial =
    // oxlint-disable-next-line no-control-regex -- as above
    /(?:%[0-9A-Fa-f]?|=(?:[0-9A-F]|\r|\r?\n)?|\\(?:x[0-9A-Fa-f]?|u\{?[0-9A-Fa-f]{0,6}|U[0-9A-Fa-f]{0,7}|[0-7]{1,2})?|&#?[A-Za-z0-9]{0,24}|\x1b(?:\[[\d;:?]{0,40}[ -/]?)?)$/.exec(
      tail,
    );
  const isWhole = partial === null || /^\\u(?:[0-9A-Fa-f]{4}|[0-9A-Fa-f]{5,})$/.test(partial[0]);
  const end = isWhole ? tail.length : partial.index;
  return text.length - tail.length + openCharacter(tail.slice(0, end));
}

/** Returns the start of an incomplete multi-byte character at the end of the text, such as %C3 of %C3%BC. */
function openCharacter(text: string): number {
  const run = /(?:(?:[%=][0-9A-Fa-f]{2}){1,3}|(?:\\x[0-9A-Fa-f]{2}){1,3})$/.exec(text);
  if (run === null) return text.length;
  const bytes = byteRun(run[0]);
  if (bytes === null) return text.length;
  for (let back = 1; back <= bytes.bytes.length; back++) {
    const byte = bytes.bytes[bytes.bytes.length - back] ?? 0;
    if (byte < 0x80) return text.length;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? text.length - back * bytes.width : text.length;
  }
  return text.length;
}

class ViewWriter {
  readonly #text: string;
  readonly #reach: number;
  readonly #parts: string[] = [];
  /** By position in the view: the position in the original. */
  readonly #places: Int32Array;
  #length = 0;
  /** The end of the text copied so far. */
  #at = 0;

  constructor(text: string, reach: number) {
    this.#text = text;
    this.#reach = reach;
    this.#places = new Int32Array(text.length + 1);
  }

  add(match: RegExpExecArray): void {
    this.#copyUntil(match.index);
    this.#at = match.index + match[0].length;
    if (match[0].endsWith('\n')) return;
    const run = byteRun(match[0]);
    if (run === null) this.#write(decodeOne(match), match.index);
    else this.#writeBytes(run.bytes, match.index, run.width);
  }

  finish(): TextView {
    const end = Math.min(this.#text.length, this.#at + this.#reach);
    this.#copy(this.#at, end);
    const places = this.#places.subarray(0, this.#length);
    const placeOf = (index: number): number => places[index] ?? end;
    return { text: this.#parts.join(''), reachesEnd: end === this.#text.length, startOf: placeOf, endOf: placeOf };
  }

  /** Copies the text between the last escape and this one, or only the parts within reach of either. */
  #copyUntil(index: number): void {
    const isFirst = this.#parts.length === 0;
    const before = isFirst ? 0 : this.#at + this.#reach;
    const after = index - this.#reach;
    if (after <= before) {
      this.#copy(isFirst ? Math.max(0, after) : this.#at, index);
      return;
    }
    if (!isFirst) {
      this.#copy(this.#at, before);
      this.#write(gap, before);
    }
    this.#copy(after, index);
  }

  #copy(from: number, to: number): void {
    this.#parts.push(this.#text.slice(from, to));
    for (let index = from; index < to; index++) this.#places[this.#length++] = index;
  }

  #write(chars: string, place: number): void {
    this.#parts.push(chars);
    for (let i = 0; i < chars.length; i++) this.#places[this.#length++] = place;
  }

  #writeBytes(bytes: Buffer, place: number, width: number): void {
    let at = 0;
    for (const char of bytes.toString('utf8')) {
      this.#write(char, place + at * width);
      // A byte that is not valid UTF-8 was decoded as one replacement character.
      at = Math.min(bytes.length, at + (char === '\ufffd' ? 1 : Buffer.byteLength(char)));
    }
  }
}

/** Reads %C3%BC, =C3=BC or \xc3\xbc as consecutive bytes of UTF-8. */
function byteRun(escape: string): { bytes: Buffer; width: number } | null {
  if (/^[%=][0-9A-Fa-f]/.test(escape)) return { bytes: Buffer.from(escape.replace(/[%=]/g, ''), 'hex'), width: 3 };
  if (escape.startsWith('\\x')) return { bytes: Buffer.from(escape.replaceAll('\\x', ''), 'hex'), width: 4 };
  return null;
}

function decodeOne(match: RegExpExecArray): string {
  const [, braced, long, unit, octal, letter, itself, hexEntity, entity, named, unshown, mixed] = match;
  if (unshown !== undefined) return '';
  if (mixed !== undefined) return mixed.replace(/./g, asLatin);
  if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
  if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
  if (letter !== undefined) return letters[letter] ?? letter;
  if (itself !== undefined) return itself;
  if (named !== undefined) return entities[named] ?? '';
  return characterAt(braced ?? long ?? hexEntity ?? entity ?? '', entity === undefined ? 16 : 10);
}

function characterAt(digits: string, base: 10 | 16): string {
  const code = Number.parseInt(digits, base);
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
}

function asLatin(sign: string): string {
  const code = sign.charCodeAt(0);
  if (code >= 0xff21) return String.fromCharCode(code - 0xfee0);
  return alike[lookalikes.indexOf(sign)] ?? sign;
}
