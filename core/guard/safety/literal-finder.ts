// Finds many literals in one pass over a text with a rolling hash over the head of each, so that the number of literals hardly matters. Can
// skip characters that programs insert: line breaks and indents of folded text, shell quotes and backslashes, the plus of forms.

export interface Literal<T> {
  /** At least as long as the head, without skipped characters. */
  readonly text: string;
  readonly about: T;
}

export interface FinderOptions {
  /** The number of characters that the rolling hash covers. */
  readonly headLength: number;
  /** Characters that may occur between the characters of a literal. */
  readonly skipped?: string;
}

const HASH_BITS = 32;
const BUCKET_BITS = 16;
const CODES = 65_536;
const DIFFERENT_WEIGHTS = 256;

export class LiteralFinder<T> {
  readonly #headLength: number;
  /** By character code. Zero for a skipped character. */
  readonly #weights: Int32Array;
  readonly #shifts: Uint8Array;
  /** One bit per bucket, so that the whole table stays in the fastest cache. */
  readonly #buckets = new Uint8Array((1 << BUCKET_BITS) >> 3);
  readonly #byHash = new Map<number, Literal<T>[]>();
  readonly #beginnings = new Set<string>();

  constructor(literals: readonly Literal<T>[], { headLength, skipped = '' }: FinderOptions) {
    this.#headLength = headLength;
    this.#weights = createWeights();
    // Shifts out the characters that are further back than the head.
    const shift = Math.ceil(HASH_BITS / headLength);
    this.#shifts = new Uint8Array(CODES).fill(shift);
    for (let i = 0; i < skipped.length; i++) this.#weights[skipped.charCodeAt(i)] = this.#shifts[skipped.charCodeAt(i)] = 0;
    for (const literal of literals) {
      let hash = 0;
      for (let i = 0; i < headLength; i++) hash = ((hash << shift) + (this.#weights[literal.text.charCodeAt(i)] ?? 0)) | 0;
      const others = this.#byHash.get(hash);
      if (others === undefined) this.#byHash.set(hash, [literal]);
      else others.push(literal);
      const bucket = hash >>> (HASH_BITS - BUCKET_BITS);
      this.#buckets[bucket >> 3] = (this.#buckets[bucket >> 3] ?? 0) | (1 << (bucket & 7));
      for (let length = 1; length < headLength; length++) this.#beginnings.add(literal.text.slice(0, length));
    }
  }

  /**
   * Calls `onFound` for each occurrence. If `isOpen`, returns the start of an unfinished literal at the end of the text; otherwise, and
   * without one, the text's length.
   */
  scan(text: string, isOpen: boolean, onFound: (about: T, start: number, end: number) => void): number {
    if (this.#byHash.size === 0) return text.length;
    const weights = this.#weights;
    const shifts = this.#shifts;
    const buckets = this.#buckets;
    let open = isOpen ? this.#openBeginning(text) : text.length;
    let hash = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      // A skipped character has no weight and no shift. A branch here would run for every word.
      hash = ((hash << (shifts[code] ?? 0)) + (weights[code] ?? 0)) | 0;
      const bucket = hash >>> (HASH_BITS - BUCKET_BITS);
      if (((buckets[bucket >> 3] ?? 0) & (1 << (bucket & 7))) === 0 || weights[code] === 0) continue;
      for (const literal of this.#byHash.get(hash) ?? []) {
        const start = this.#startOf(text, literal.text, i);
        if (start < 0) continue;
        const end = this.#endOf(text, literal.text, i + 1);
        if (end > text.length) open = isOpen ? Math.min(open, start) : open;
        else if (end >= 0) onFound(literal.about, start, end);
      }
    }
    return open;
  }

  /** Returns the start of a literal's head that the end of the text may continue, or the text's length. */
  #openBeginning(text: string): number {
    let open = text.length;
    let tail = '';
    for (let index = text.length - 1; index >= 0 && tail.length < this.#headLength - 1; index--) {
      if (this.#weights[text.charCodeAt(index)] === 0) continue;
      tail = text.charAt(index) + tail;
      if (this.#beginnings.has(tail)) open = index;
    }
    return open;
  }

  /** Returns the start of the head that ends at `last`, or -1 if other text has the same hash. */
  #startOf(text: string, literal: string, last: number): number {
    let index = last + 1;
    for (let i = this.#headLength - 1; i >= 0; i--) {
      do index -= 1;
      while (index >= 0 && this.#weights[text.charCodeAt(index)] === 0);
      if (index < 0 || text.charCodeAt(index) !== literal.charCodeAt(i)) return -1;
    }
    return index;
  }

  /** Returns the position after the literal, -1 if the text differs, or the text's length plus one if the text ends too early. */
  #endOf(text: string, literal: string, from: number): number {
    let end = from;
    for (let i = this.#headLength; i < literal.length; end++) {
      if (end >= text.length) return text.length + 1;
      const code = text.charCodeAt(end);
      if (this.#weights[code] === 0) continue;
      if (code !== literal.charCodeAt(i)) return -1;
      i += 1;
    }
    return end;
  }
}

/**
 * Any good mixing of the bits will do; this is the finalizer of MurmurHash3. Characters with the same low byte share a weight, which costs
 * at most a failed comparison. Computing 65,536 different weights would take too long in a program that starts for a single command.
 */
function createWeights(): Int32Array {
  const weights = new Int32Array(CODES);
  for (let code = 0; code < DIFFERENT_WEIGHTS; code++) {
    let bits = Math.imul(code + 1, 0x9e3779b1);
    bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
    bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
    weights[code] = (bits ^ (bits >>> 16)) | 1;
  }
  for (let filled = DIFFERENT_WEIGHTS; filled < CODES; filled *= 2) weights.copyWithin(filled, 0, filled);
  return weights;
}
