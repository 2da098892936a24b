// Decodes lists of byte values, in decimal (`[90, 113, 55]`) or hex (`5a:71:37`, `0x5a, 0x71`), so that a secret written as numbers is
// found. Ignores lists with a number that is not a byte. Pure.

import { gap, WrittenView, type TextView } from './text-view.ts';

/** A shorter list cannot contain a secret. */
const LENGTH_MIN = 8;
/** A longer list is read in parts, which are not apart. A regular expression would run out of memory on one of some megabytes. */
const LENGTH_MAX = 2000;
const SEPARATOR_LENGTH_MAX = 14;
/** A stream holds back less than this. */
const OPEN_LENGTH_MAX = 40_000;
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
    list: new RegExp(`(?<![\\w.])${number}(?:${separator}${number}){${LENGTH_MIN - 1},${LENGTH_MAX}}(?![\\w.])`, 'g'),
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

/** Most texts are a single word, so this is worth a look before the lists are searched. */
const anySeparator = /[,;: \t-]/;

export function numberRuns(text: string): TextView[] {
  if (!anySeparator.test(text)) return [];
  return notations.flatMap((one) => {
    const view = new WrittenView();
    let end = -SEPARATOR_LENGTH_MAX;
    for (const { 0: list, index } of text.matchAll(one.list)) {
      if (index - end >= SEPARATOR_LENGTH_MAX) view.add(gap, index, index);
      addList(view, list, index, one);
      end = index + list.length;
    }
    return view.text === '' ? [] : [view];
  });
}

/** Returns the start of a list that more text could extend, or the text's length if there is none. */
export function openNumbers(text: string): number {
  const tail = text.slice(-OPEN_LENGTH_MAX);
  const lengths = notations.map(({ openList }) => {
    openList.lastIndex = tail.length;
    return openList.exec(tail)?.[1]?.length ?? 0;
  });
  return text.length - Math.max(...lengths);
}

/** Adds the bytes of a list. Ignores a list with a number that is not a byte. */
function addList(view: WrittenView, list: string, at: number, { token, base }: Notation): void {
  const found = [...list.matchAll(token)].map(({ 0: number, index }) => ({
    code: Number.parseInt(number, base),
    index,
    length: number.length,
  }));
  if (found.some(({ code }) => code > 0xff)) return;
  for (const { code, index, length } of found) view.add(String.fromCharCode(code), at + index, at + index + length);
}
