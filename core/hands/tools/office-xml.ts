// Reads the XML of office documents in one pass, without building a tree: a sheet may have millions of cells. Names lose their namespace
// prefix, which writers choose freely. Pure.

export interface XmlReader {
  /** False skips the whole element, and its end is not reported. */
  open(name: string, attributes: string): boolean;
  close?(name: string): void;
  text?(text: string): void;
}

export class DamagedDocument extends Error {}

const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
/** Markup that is not an element: its beginning, its end, and whether it is text. */
const others = [
  ['<!--', '-->', false],
  ['<![CDATA[', ']]>', true],
  ['<?', '?>', false],
  ['<!', '>', false],
] as const;

/** Reports every element and text in order. Fails with `DamagedDocument` where the source ends too early. */
export function scanXml(source: string, reader: XmlReader): void {
  const scan = new Scan(source, reader);
  for (let at = 0; at < source.length;) at = scan.next(at);
}

class Scan {
  readonly #source: string;
  readonly #reader: XmlReader;
  /** The depth inside of an element that is skipped. */
  #skipped = 0;

  constructor(source: string, reader: XmlReader) {
    this.#source = source;
    this.#reader = reader;
  }

  /** Reads a text and the tag after it. Returns the end of the tag. */
  next(at: number): number {
    const source = this.#source;
    const start = source.indexOf('<', at);
    this.#say(plain(source.slice(at, start < 0 ? source.length : start)));
    if (start < 0) return source.length;
    const second = source.charAt(start + 1);
    if (second === '!' || second === '?') return this.#other(start);
    const end = after(endOfTag(source, start + 1), 1);
    if (second === '/') this.#close(start + 2);
    else this.#open(start + 1, end);
    return end;
  }

  #say(text: string): void {
    if (this.#skipped === 0 && text !== '') this.#reader.text?.(text);
  }

  #other(start: number): number {
    const [begin, end, isText] = others.find(([one]) => this.#source.startsWith(one, start)) ?? others[3];
    const at = after(this.#source.indexOf(end, start + begin.length), end.length);
    if (isText) this.#say(this.#source.slice(start + begin.length, at - end.length));
    return at;
  }

  #open(start: number, end: number): void {
    const isEmpty = this.#source.charAt(end - 2) === '/';
    const tag = this.#source.slice(start, end - (isEmpty ? 2 : 1));
    const isWanted = this.#skipped === 0 && openTag(tag, this.#reader);
    if (isWanted && isEmpty) this.#reader.close?.(localName(tag, 0));
    if (!isWanted && !isEmpty) this.#skipped += 1;
  }

  #close(start: number): void {
    if (this.#skipped > 0) this.#skipped -= 1;
    else this.#reader.close?.(localName(this.#source, start));
  }
}

function openTag(tag: string, reader: XmlReader): boolean {
  const name = localName(tag, 0);
  return reader.open(name, tag.slice(tag.indexOf(name) + name.length));
}

function after(found: number, length: number): number {
  if (found < 0) throw new DamagedDocument();
  return found + length;
}

/** The place of the `>` that ends a tag; a quoted value may contain others. */
function endOfTag(source: string, start: number): number {
  for (let at = start; at >= 0 && at < source.length; at += 1) {
    const letter = source.charAt(at);
    if (letter === '>') return at;
    if (letter === '"' || letter === "'") at = after(source.indexOf(letter, at + 1), 0);
  }
  return -1;
}

function localName(source: string, start: number): string {
  let from = start;
  for (let at = start; ; at += 1) {
    const letter = source.charAt(at);
    if (letter === ':') from = at + 1;
    else if (letter === '' || letter === '>' || letter === '/' || letter <= ' ') return source.slice(from, at);
  }
}

/** The value of an attribute with any prefix, or with one if `name` begins with a colon; null if there is none. */
export function attribute(attributes: string, name: string): string | null {
  const pattern = patterns.get(name) ?? patternOf(name);
  patterns.set(name, pattern);
  const found = pattern.exec(attributes);
  const value = found?.[1] ?? found?.[2];
  return value === undefined ? null : plain(value);
}

/** A whole number; null if the attribute is missing or something else. */
export function numberIn(attributes: string, name: string): number | null {
  const value = Number.parseInt(attribute(attributes, name) ?? '', 10);
  return Number.isNaN(value) ? null : value;
}

/** A sheet asks for the same few in each of its cells. */
const patterns = new Map<string, RegExp>();

function patternOf(name: string): RegExp {
  const prefix = name.startsWith(':') ? String.raw`[\w.-]+` : String.raw`(?:[\w.-]+:)?`;
  return new RegExp(String.raw`(?:^|\s)${prefix}${name}\s*=\s*(?:"([^"]*)"|'([^']*)')`);
}

function plain(text: string): string {
  return text.includes('&') ? text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,4}));/gi, character) : text;
}

function character(whole: string, hex: string | undefined, decimal: string | undefined, name: string | undefined): string {
  if (name !== undefined) return named[name] ?? whole;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code <= 0x10_ffff ? String.fromCodePoint(code) : whole;
}
