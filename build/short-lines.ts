// Breaks the long lines of bundled code. Node prints the source line of an uncaught error, which would be a screenful of minified code
// after the message.

import { decode, encode, type SourceMapMappings } from '@jridgewell/sourcemap-codec';
import { parseAst } from 'vite';

/** A line is broken at the first place after this many characters. */
const LENGTH = 300;
const NOT_ASCII = /[^\0-\x7f]/;
/** Fields with statements or members of a class; a line may end after each. */
const statements = new Set(['body', 'cases', 'consequent']);

type Node = { type?: string; end: number; [field: string]: unknown };

/**
 * Returns an equivalent program. Leaves code alone that is not ASCII, because the parser counts its characters differently. `mappings`: of
 * its source map.
 */
export function inShortLines(code: string, mappings: string): { code: string; mappings: string } {
  if (NOT_ASCII.test(code)) return { code, mappings };
  const places = chosen(code, placesIn(code));
  let from = 0;
  const parts = places.map((at) => code.slice(from, (from = at)));
  return { code: [...parts, code.slice(from)].join('\n'), mappings: encode(moved(code, decode(mappings), places)) };
}

/** The positions at which a line break changes nothing: after a statement, and after a comma of a list. Ascending. */
function placesIn(code: string): number[] {
  const places: Set<number> = new Set();
  const open = [parseAst(code, { sourceType: 'module' }) as unknown];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const [field, value] of Object.entries(node as object)) {
      if (typeof value !== 'object' || value === null) continue;
      if (!Array.isArray(value)) {
        open.push(value);
        continue;
      }
      for (const item of value as (Node | null)[]) {
        if (typeof item !== 'object' || item === null) continue;
        if (code[item.end] === ',') places.add(item.end + 1);
        else if (statements.has(field)) places.add(item.end);
        open.push(item);
      }
    }
  }
  return [...places].sort((a, b) => a - b);
}

function chosen(code: string, places: readonly number[]) {
  const taken: number[] = [];
  let start = 0;
  for (const at of places) {
    start = Math.max(start, code.lastIndexOf('\n', at - 1) + 1);
    if (at - start < LENGTH || code[at] === '\n') continue;
    taken.push(at);
    start = at;
  }
  return taken;
}

/** Splits the lines of a source map. */
function moved(code: string, lines: SourceMapMappings, places: readonly number[]): SourceMapMappings {
  let start = 0;
  let next = 0;
  return code.split('\n').flatMap((text, index) => {
    const end = start + text.length;
    const breaks = [0];
    for (; next < places.length && (places[next] ?? 0) <= end; next += 1) breaks.push((places[next] ?? 0) - start);
    start = end + 1;
    const segments = lines[index] ?? [];
    let taken = 0;
    return breaks.map((column, at) => {
      const first = taken;
      while (taken < segments.length && (segments[taken]?.[0] ?? 0) < (breaks[at + 1] ?? Infinity)) taken += 1;
      const own = segments.slice(first, taken);
      for (const segment of own) segment[0] -= column;
      return own;
    });
  });
}
