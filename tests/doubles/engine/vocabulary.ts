// The vocabulary of a scripted GGUF file: text to tokens and back, and the token that its model writes next. For tests only.

import type { GrammarMatch } from './gbnf.ts';
import type { GgufModel } from './gguf-file.ts';

const END = 2;
const BYTE = 6;
const CONTROL = 3;
const USER_DEFINED = 4;
/** If a grammar forbids the scripted token, the shortest way to the end is taken: closing characters come first. */
const usual = ['"', '}', ']', ':', ',', '0', ...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ123456789_-.{[ '.split('')];

export class Vocabulary {
  readonly #texts: readonly string[];
  readonly #types: readonly number[];
  readonly #byText = new Map<string, number>();
  readonly #bytes = new Map<number, number>();
  readonly #marks: readonly string[];

  constructor({ tokens, types }: GgufModel) {
    this.#texts = tokens.map((text) => text.replaceAll('\u2581', ' '));
    this.#types = types;
    this.#texts.forEach((text, token) => {
      this.#byText.set(text, token);
      if (types[token] === BYTE) this.#bytes.set(Number.parseInt(text.slice(3, 5), 16), token);
    });
    this.#marks = this.#texts.filter((_text, token) => types[token] === CONTROL || types[token] === USER_DEFINED);
  }

  has(token: number): boolean {
    return this.#texts[token] !== undefined;
  }

  isEnd(token: number): boolean {
    return token === END;
  }

  /**
   * Splits text into marks, then single characters, then bytes: the real tokenizer does not merge them, because the vocabulary's words are
   * too unlikely.
   */
  tokenize(text: string, special: boolean): readonly number[] {
    const tokens: number[] = [];
    for (let at = 0; at < text.length;) {
      const mark = special && text[at] === '<' ? this.#marks.find((one) => text.startsWith(one, at)) : undefined;
      const sign = mark ?? String.fromCodePoint(text.codePointAt(at) ?? 0);
      at += sign.length;
      const token = mark === undefined && sign.length > 1 ? undefined : this.#byText.get(sign);
      if (token === undefined) tokens.push(...[...Buffer.from(sign)].map((byte) => this.#bytes.get(byte) ?? 0));
      else tokens.push(token);
    }
    return tokens;
  }

  text(tokens: readonly number[], special: boolean): string {
    const bytes = tokens.map((token) => {
      const text = this.#texts[token];
      if (text === undefined) throw new Error(`there is no token ${token}`);
      if (this.#types[token] === BYTE) return Buffer.from([Number.parseInt(text.slice(3, 5), 16)]);
      return Buffer.from(this.#types[token] === CONTROL && !special ? '' : text);
    });
    return Buffer.concat(bytes).toString('utf8');
  }

  /** The scripted token if the grammar allows it, otherwise the first usual one that it allows. */
  next(scripted: number | undefined, match: GrammarMatch | null): number {
    const wanted = scripted ?? END;
    if (match === null) return wanted;
    const fits = (token: number): boolean => (token === END ? match.canEnd : match.fits(this.text([token], true)));
    const token = [wanted, END, ...usual.flatMap((text) => this.tokenize(text, false))].find(fits);
    if (token === undefined) throw new Error('the grammar admits no word of the file');
    if (token !== END) match.accept(this.text([token], true));
    return token;
  }
}
