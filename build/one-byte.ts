// Rewrites non-ASCII characters in source text as escapes. Node stores a source with one byte per character if it is ASCII. A single
// character above U+00FF doubles that, and so does one above U+007F in a file of more than a megabyte: a section sign in a comparison
// doubled the memory of the largest chunk, 1.8 MB, and slowed its loading.

import { decode, encode, type SourceMapMappings } from '@jridgewell/sourcemap-codec';

/** UTF-16 code units, which escapes represent. */
const WIDE = /[\u0080-\uffff]/g;
const ESCAPE_CHARS = '\\u2026'.length;
/** A text mostly in another script, such as a table of tokens, would become larger and is left alone. */
const WIDE_SHARE_MAX = 1 / 20;

/**
 * Returns an equivalent program. Throws if a raw template contains such a character, because an escape would change its value. `mappings`:
 * of its source map.
 */
export function inOneByte(code: string, mappings: string): { code: string; mappings: string } {
  const wide = code.match(WIDE)?.length ?? 0;
  if (wide === 0 || wide > code.length * WIDE_SHARE_MAX) return { code, mappings };
  const raw = /\.raw\s*`[^`]*[\u0080-\uffff][^`]*`/.exec(code);
  if (raw !== null) throw new Error(`A raw template holds a character above U+007F: ${raw[0].slice(0, 80)}`);
  return { code: code.replace(WIDE, escape), mappings: encode(moved(code, decode(mappings))) };
}

const escape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Shifts source map columns after an escape to the right. */
function moved(code: string, lines: SourceMapMappings) {
  for (const [index, line] of code.split('\n').entries()) {
    const columns = Array.from(line.matchAll(WIDE), (match) => match.index);
    let passed = 0;
    for (const segment of columns.length === 0 ? [] : (lines[index] ?? [])) {
      while ((columns[passed] ?? Infinity) < segment[0]) passed += 1;
      segment[0] += passed * (ESCAPE_CHARS - 1);
    }
  }
  return lines;
}
