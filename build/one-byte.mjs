// Node keeps a source text in one byte a character if it is ASCII. A single character above U+00FF doubles it, and so does any above U+007F in
// a file of more than a megabyte: a paragraph sign in a comparison doubled the memory of the largest chunk, 1.8 MB, and reading it took longer.
// Such characters are written as escapes.

import { decode, encode } from '@jridgewell/sourcemap-codec';

/** UTF-16 units, as escapes have them. */
const WIDE = /[\u0080-\uffff]/g;
const ESCAPE_CHARS = '\\u2026'.length;
/** Texts mostly of other scripts, such as tables of tokens, would become larger. */
const WIDE_SHARE_MAX = 1 / 20;

/**
 * The same program; a template that reads its text raw would not be, so none may hold such a character.
 * @param {string} code
 * @param {string} mappings of its source map
 * @returns {{ code: string, mappings: string }}
 */
export function inOneByte(code, mappings) {
  const wide = code.match(WIDE)?.length ?? 0;
  if (wide === 0 || wide > code.length * WIDE_SHARE_MAX) return { code, mappings };
  const raw = /\.raw\s*`[^`]*[\u0080-\uffff][^`]*`/.exec(code);
  if (raw !== null) throw new Error(`A raw template holds a character above U+007F: ${raw[0].slice(0, 80)}`);
  return { code: code.replace(WIDE, escape), mappings: encode(moved(code, decode(mappings))) };
}

/** @param {string} unit */
const escape = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * Places behind an escape in its line move to the right.
 * @param {string} code
 * @param {import('@jridgewell/sourcemap-codec').SourceMapMappings} lines
 */
function moved(code, lines) {
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
