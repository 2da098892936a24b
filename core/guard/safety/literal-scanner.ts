// Finds many literals in one pass over a text (Aho–Corasick, https://doi.org/10.1145/360825.360855, as one dense table).
// Line breaks inside the text are ignored, so a literal folded over lines is found too. Literals contain no line breaks.

import { assert } from '../../base/assert.ts';

/** `end` is the index after the last character; `id` is the place of the literal in the list given. */
export type OnLiteral = (id: number, start: number, end: number) => void;

const CLASS_OTHER = 0;
const CLASS_SKIPPED = 0xffff;

export class LiteralScanner {
  readonly #literals: readonly string[];
  readonly #classOf = new Uint16Array(65_536);
  readonly #width: number;
  /** Row of the next state by row of a state and class; rows are offsets into this table. */
  readonly #next: Int32Array;
  /** By state: literals that end there, those of its suffixes included. */
  readonly #ends: (readonly number[] | undefined)[];
  readonly #depth: Int32Array;

  constructor(literals: readonly string[]) {
    this.#literals = literals;
    let classes = 1;
    let statesMax = 1;
    for (const literal of literals) {
      assert(literal !== '' && !/[\r\n]/.test(literal), 'a literal is one line with content');
      statesMax += literal.length;
      for (let i = 0; i < literal.length; i++) {
        const code = literal.charCodeAt(i);
        if (this.#classOf[code] === CLASS_OTHER) this.#classOf[code] = classes++;
      }
    }
    this.#classOf[0x0a] = CLASS_SKIPPED;
    this.#classOf[0x0d] = CLASS_SKIPPED;
    this.#width = classes;
    const trie = buildTrie(literals, this.#classOf, classes, statesMax);
    linkSuffixes(trie, classes);
    this.#next = trie.next;
    this.#ends = trie.ends;
    this.#depth = trie.depth;
  }

  /**
   * Calls `onLiteral` for each occurrence. Returns where the longest beginning of a literal that the text ends with starts:
   * `text.length` when it ends with none.
   */
  scan(text: string, onLiteral: OnLiteral): number {
    const classOf = this.#classOf;
    const next = this.#next;
    const width = this.#width;
    const ends = this.#ends;
    let row = 0;
    for (let i = 0; i < text.length; i++) {
      const charClass = classOf[text.charCodeAt(i)] ?? CLASS_OTHER;
      if (charClass === CLASS_SKIPPED) continue;
      row = next[row + charClass] ?? 0;
      if (row === 0) continue;
      const found = ends[row / width];
      if (found === undefined) continue;
      for (const id of found) onLiteral(id, startOf(text, i + 1, this.#literals[id]?.length ?? 0), i + 1);
    }
    return startOf(text, text.length, this.#depth[row / width] ?? 0);
  }
}

/** Index from which `length` characters other than line breaks lead up to `end`. */
function startOf(text: string, end: number, length: number): number {
  let index = end;
  for (let left = length; left > 0;) {
    index -= 1;
    const code = text.charCodeAt(index);
    if (code !== 0x0a && code !== 0x0d) left -= 1;
  }
  return index;
}

interface Trie {
  readonly next: Int32Array;
  readonly ends: number[][];
  readonly depth: Int32Array;
  readonly states: number;
}

function buildTrie(literals: readonly string[], classOf: Uint16Array, width: number, statesMax: number): Trie {
  const next = new Int32Array(statesMax * width);
  const depth = new Int32Array(statesMax);
  const ends: number[][] = [];
  let states = 1;
  for (const [id, literal] of literals.entries()) {
    let state = 0;
    for (let i = 0; i < literal.length; i++) {
      const slot = state * width + (classOf[literal.charCodeAt(i)] ?? 0);
      if (next[slot] === 0) {
        next[slot] = states * width;
        depth[states] = i + 1;
        states += 1;
      }
      state = (next[slot] ?? 0) / width;
    }
    (ends[state] ??= []).push(id);
  }
  return { next, ends, depth, states };
}

/** Breadth first: a missing edge becomes that of the longest proper suffix, so that scanning never goes back. */
function linkSuffixes(trie: Trie, width: number): void {
  const { next, ends, states } = trie;
  const suffix = new Int32Array(states);
  const queue: number[] = [];
  for (let charClass = 0; charClass < width; charClass++) {
    const child = (next[charClass] ?? 0) / width;
    if (child !== 0) queue.push(child);
  }
  for (const state of queue) {
    const fallback = (suffix[state] ?? 0) * width;
    const inherited = ends[suffix[state] ?? 0];
    if (inherited !== undefined) ends[state] = [...(ends[state] ?? []), ...inherited];
    for (let charClass = 0; charClass < width; charClass++) {
      const slot = state * width + charClass;
      const child = (next[slot] ?? 0) / width;
      const target = next[fallback + charClass] ?? 0;
      if (child === 0) next[slot] = target;
      else {
        suffix[child] = target / width;
        queue.push(child);
      }
    }
  }
}
