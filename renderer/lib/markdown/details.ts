// Parses a collapsible section of an answer, as models write it: <details> with its <summary>, and markdown in between. Pure; the tags
// themselves never reach the page.

import type { Tokens } from 'marked';

const head = /^ {0,3}<details(?: open)?>\s*<summary>([^\n]{1,500}?)<\/summary>[ \t]*\n?/i;
/** Matches within single lines, so that the cost does not grow with the text that follows. */
const mark = /^ {0,3}(?:```|~~~).*$|<(\/?)details(?: open)?>/gim;

/** For the parser: the next position in a paragraph where a section may begin. */
export function findDetails(source: string): number | undefined {
  const end = source.indexOf('\n\n');
  const at = (end === -1 ? source : source.slice(0, end)).search(/\n {0,3}<details(?: open)?>/i);
  return at === -1 ? undefined : at + 1;
}

/** Reads up to the end tag; without one, as while an answer streams, the section contains all following text. */
export function readDetails(source: string): Tokens.Generic | undefined {
  const [begin, summary = ''] = head.exec(source) ?? [];
  if (begin === undefined) return undefined;
  const about = { type: 'details', summary: plainText(summary) };
  const end = findEnd(source);
  if (end === null) return { ...about, raw: source, text: source.slice(begin.length) };
  return { ...about, raw: source.slice(0, end.to), text: source.slice(begin.length, end.from) };
}

/** Tags inside code are text. */
function findEnd(source: string): { readonly from: number; readonly to: number } | null {
  let depth = 0;
  let isCode = false;
  for (const { 0: found, 1: slash, index } of source.matchAll(mark)) {
    if (slash === undefined) isCode = !isCode;
    else if (!isCode) depth += slash === '' ? 1 : -1;
    if (depth === 0) return { from: index, to: index + found.length };
  }
  return null;
}

function plainText(summary: string): string {
  return summary.replaceAll(/<\/?[a-z]+\d?>|\*\*|__|`/gi, '').trim();
}
