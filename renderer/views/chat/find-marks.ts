// Marks text in a part of the page without changing it: the browser draws the marks over the text. Limited: frequent words stay cheap.

import { unspacedLetter } from '../../../core/base/unspaced-scripts.ts';

const marksMax = 400;
const all = 'found';
const here = 'found-here';
/** Each letter of a script without spaces counts as a word. */
const inWord = String.raw`(?!${unspacedLetter})[\p{L}\p{M}\p{N}]`;

/** Marks the words in the region, those in `place` more strongly; returns the first of these. */
export function markWords(query: string, region: Element, place: Element | null): Range | null {
  const found = rangesOf(query, region);
  const inPlace = place === null ? [] : found.filter((range) => place.contains(range.startContainer));
  CSS.highlights.set(all, new Highlight(...found));
  CSS.highlights.set(here, new Highlight(...inPlace));
  return inPlace[0] ?? null;
}

export function unmark(): void {
  CSS.highlights.delete(all);
  CSS.highlights.delete(here);
}

/** Finds words as the search does: letters and digits form words, case is ignored, and the last word of the query may be the beginning of one. */
function rangesOf(query: string, region: Element): Range[] {
  const words = query.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  if (words.length === 0) return [];
  const begin = new RegExp(`^${unspacedLetter}`, 'u');
  const end = new RegExp(`${unspacedLetter}\\p{M}*$`, 'u');
  const patternOf = (word: string, at: number): string =>
    `${begin.test(word) ? '' : `(?<!${inWord})`}${word}${at === words.length - 1 || end.test(word) ? '' : `(?!${inWord})`}`;
  const pattern = new RegExp(words.map(patternOf).join('|'), 'giu');
  // The time next to a message is not part of its text.
  const texts = document.createTreeWalker(region, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) => {
    if (node instanceof Text) return NodeFilter.FILTER_ACCEPT;
    return node.nodeName === 'TIME' ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
  });
  const ranges: Range[] = [];
  while (ranges.length < marksMax && texts.nextNode() !== null) {
    const { currentNode } = texts;
    for (const match of (currentNode.nodeValue ?? '').matchAll(pattern)) {
      const range = document.createRange();
      range.setStart(currentNode, match.index);
      range.setEnd(currentNode, match.index + match[0].length);
      ranges.push(range);
    }
  }
  return ranges;
}
