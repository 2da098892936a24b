// Parses almost-JSON as models write it: single quotes, trailing commas, comments, plain keys, line breaks in strings, Python's None, True,
// False and tuples. Does not guess: text with two possible readings is not parsed.

const DEPTH_MAX = 64;
const WORD = /[\p{L}_$][\p{L}\p{M}\p{N}_$-]*/uy;
const NUMBER = /[+-]?(?:0[xX][\da-fA-F]+|(?:\d[\d_]*)(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)/y;
const SPACE = /(?:\s+|\/\/[^\n]*|#[^\n]*|\/\*[^]*?\*\/)+/y;

const words: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['null', null],
  ['None', null],
]);

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '/': '/', '\\': '\\', '"': '"', "'": "'" };

class Unreadable extends Error {}

export interface LooseRead<T> {
  readonly value: T;
  /** The position after the value. */
  readonly end: number;
}

/** Returns null if no complete value begins at `at`. */
export function readLooseValue(text: string, at = 0): LooseRead<unknown> | null {
  return attempt(() => {
    const reader = new LooseReader(text, at);
    return { value: reader.value(0), end: reader.at };
  });
}

/** Parses the arguments of a Python call between its parentheses: `(city='Rome', days=3)`. Arguments without a name are in `plain`. */
export function readCallArguments(text: string, at: number): LooseRead<{ named: Record<string, unknown>; plain: unknown[] }> | null {
  return attempt(() => {
    const reader = new LooseReader(text, at);
    return { value: reader.callArguments(), end: reader.at };
  });
}

function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof Unreadable) return null;
    throw cause;
  }
}

class LooseReader {
  readonly #text: string;
  at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  value(depth: number): unknown {
    if (depth > DEPTH_MAX) throw new Unreadable();
    this.#skip();
    const sign = this.#text[this.at];
    if (sign === '{') return Object.fromEntries(this.#list('}', () => this.#pair(depth, ':')));
    if (sign === '[') return this.#list(']', () => this.value(depth + 1));
    if (sign === '(') return this.#list(')', () => this.value(depth + 1));
    if (sign === '"' || sign === "'") return this.#string();
    return this.#plain();
  }

  callArguments(): { named: Record<string, unknown>; plain: unknown[] } {
    if (this.#text[this.at] !== '(') throw new Unreadable();
    const plain: unknown[] = [];
    const named: [string, unknown][] = [];
    this.#list(')', () => {
      const begin = this.at;
      if (this.#eat(WORD) !== null && this.#isNext('=')) {
        this.at = begin;
        return named.push(this.#pair(0, '='));
      }
      this.at = begin;
      if (named.length > 0) throw new Unreadable();
      return plain.push(this.value(1));
    });
    return { named: Object.fromEntries(named), plain };
  }

  #pair(depth: number, between: string): [string, unknown] {
    const sign = this.#text[this.at];
    const key = sign === '"' || sign === "'" ? this.#string() : this.#eat(WORD);
    if (key === null || !this.#isNext(between)) throw new Unreadable();
    this.at += between.length;
    return [key, this.value(depth + 1)];
  }

  /** Accepts a trailing comma, but not two commas in a row. */
  #list<T>(close: string, item: () => T): T[] {
    const items: T[] = [];
    this.at += 1;
    for (;;) {
      if (this.#isNext(close)) break;
      items.push(item());
      if (this.#isNext(close)) break;
      if (this.#text[this.at] !== ',') throw new Unreadable();
      this.at += 1;
    }
    this.at += 1;
    return items;
  }

  #isNext(sign: string): boolean {
    this.#skip();
    return this.#text[this.at] === sign;
  }

  #plain(): unknown {
    const number = this.#eat(NUMBER);
    if (number !== null) {
      const value = Number(number.replaceAll('_', '').replace(/^\+/, ''));
      if (Number.isNaN(value) || this.#eat(WORD) !== null) throw new Unreadable();
      return value;
    }
    const word = words.get(this.#eat(WORD) ?? '');
    if (word === undefined) throw new Unreadable();
    return word;
  }

  #string(): string {
    const sign = this.#text[this.at] ?? '';
    const close = this.#text.startsWith(sign.repeat(3), this.at) ? sign.repeat(3) : sign;
    this.at += close.length;
    const parts: string[] = [];
    while (!this.#text.startsWith(close, this.at)) {
      if (this.at >= this.#text.length) throw new Unreadable();
      if (this.#text[this.at] === '\\') parts.push(this.#escape());
      else parts.push(this.#run(sign));
    }
    this.at += close.length;
    return parts.join('');
  }

  /** Reads the characters up to the next one that may have a special meaning. */
  #run(sign: string): string {
    let end = this.at + 1;
    while (end < this.#text.length && this.#text[end] !== '\\' && this.#text[end] !== sign) end += 1;
    const run = this.#text.slice(this.at, end);
    this.at = end;
    return run;
  }

  #escape(): string {
    const code = /\\(?:u([\da-fA-F]{4})|x([\da-fA-F]{2}))/y;
    code.lastIndex = this.at;
    const found = code.exec(this.#text);
    if (found !== null) {
      this.at = code.lastIndex;
      return String.fromCharCode(Number.parseInt(found[1] ?? found[2] ?? '', 16));
    }
    const sign = this.#text[this.at + 1];
    if (sign === undefined) throw new Unreadable();
    this.at += 2;
    // Python keeps the backslash of an unknown escape.
    return escapes[sign] ?? (sign === '\n' ? '' : `\\${sign}`);
  }

  #skip(): void {
    this.#eat(SPACE);
  }

  #eat(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text);
    if (found === null) return null;
    this.at = pattern.lastIndex;
    return found[0];
  }
}
