// Decodes lists of byte values, in decimal (`[90, 113, 55]`) or hex (`5a:71:37`, `0x5a, 0x71`), so that a secret written as numbers is
// found. Ignores lists with a number that is no byte. Pure.

import type { TextView } from './text-view.ts';

/** A shorter list cannot contain a secret. */
const LENGTH_MIN = 8;
/** Separates lists. No secret contains this character. */
const GAP = '\uffff';
/** A line break alone separates no list, so that output with one number a line is not delayed. */
const between = String.raw`(?:[,;]\s{0,12}|[ \t]{1,4})`;

interface Notation {
  readonly base: 10 | 16;
  readonly list: RegExp;
  /** A list at the end of a text that more text could extend. Matched backwards. */
  readonly openList: RegExp;
  readonly token: RegExp;
}

function notation(base: 10 | 16, number: string, separator: string, begun: string): Notation {
  return {
    base,
    list: new RegExp(`(?<![\\w.])${number}(?:${separator}${number}){${LENGTH_MIN - 1},}(?![\\w.])`, 'g'),
    openList: new RegExp(`(?<=((?:${number}${separator})*(?:${begun})))`, 'y'),
    token: new RegExp(number, 'g'),
  };
}

const hexPair = '[0-9A-Fa-f]{2}';
const hexNumber = '0x[0-9A-Fa-f]{1,2}';
const notations: readonly Notation[] = [
  notation(10, String.raw`\d{1,3}`, between, String.raw`\d{0,3}`),
  notation(16, hexPair, String.raw`[:,-]\s?`, `${hexPair}[:,-]?|[0-9A-Fa-f]?`),
  notation(16, hexNumber, between, `${hexNumber}[,;]?|(?:0x?)?`),
];

export function numberRuns(text: string): TextView[] {
  return notations.flatMap((one) => {
    const view = new RunView(one);
    for (const { 0: list, index } of text.matchAll(one.list)) view.add(list, index);
    return view.text === '' ? [] : [view];
  });
}

/** Returns the start of a list that more text could extend, or the text's length if there is none. */
export function openNumbers(text: string): number {
  const lengths = notations.map(({ openList }) => {
    openList.lastIndex = text.length;
    return openList.exec(text)?.[1]?.length ?? 0;
  });
  return text.length - Math.max(...lengths);
}

/** All lists of a text in one notation. */
class RunView implements TextView {
  text = '';
  /** A list at the end is awaited as a whole. */
  readonly reachesEnd = false;
  readonly #notation: Notation;
  /** By position in the view: the start and the end of the number in the original. */
  readonly #places: number[] = [];

  constructor(one: Notation) {
    this.#notation = one;
  }

  startOf(index: number): number {
    return this.#places[index * 2] ?? this.#places.at(-1) ?? 0;
  }

  endOf(index: number): number {
    return this.#places[index * 2 - 1] ?? 0;
  }

  add(list: string, start: number): void {
    const { token, base } = this.#notation;
    const places = [start, start];
    let text = GAP;
    token.lastIndex = 0;
    for (let found = token.exec(list); found !== null; found = token.exec(list)) {
      const code = Number.parseInt(found[0], base);
      if (code > 0xff) return;
      text += String.fromCharCode(code);
      places.push(start + found.index, start + token.lastIndex);
    }
    this.text += text;
    for (const place of places) this.#places.push(place);
  }
}
