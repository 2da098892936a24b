// Finds many literals in one pass over a text: one rolling hash over the head of each, so that their number costs nothing. Can skip the
// characters programs insert: line breaks and indents of folded text, quotes and backslashes of shells, the plus of forms.

export interface Literal<T> {
  /** At least as long as the head; skipped characters are removed. */
  readonly text: string;
  readonly about: T;
}

export interface FinderOptions {
  /** Characters the rolling hash covers. */
  readonly headLength: number;
  /** The characters to skip between two of a literal. */
  readonly skipped?: string;
}

const HASH_BITS = 32;
const BUCKET_BITS = 16;
const CODES = 65_536;
const DIFFERENT_WEIGHTS = 256;

export class LiteralFinder<T> {
  readonly #headLength: number;
  /** Zero for a skipped character. */
  readonly #weights: Int32Array;
  readonly #shifts: Uint8Array;
  /** One bit per bucket: the whole table stays in the nearest cache. */
  readonly #buckets = new Uint8Array((1 << BUCKET_BITS) >> 3);
  readonly #byHash = new Map<number, Literal<T>[]>();
  readonly #beginnings = new Set<string>();

  constructor(literals: readonly Literal<T>[], { headLength, skipped = '' }: FinderOptions) {
    this.#headLength = headLength;
    this.#weights = createWeights();
    // Characters further back than the head are shifted out.
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

  /** Calls `onFound` for each occurrence. Returns where an unfinished literal at the end of the text begins; else the text's length. */
  scan(text: string, onFound: (about: T, start: number, end: number) => void): number {
    if (this.#byHash.size === 0) return text.length;
    const weights = this.#weights;
    const shifts = this.#shifts;
    const buckets = this.#buckets;
    let open = this.#openBeginning(text);
    let hash = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      // A skipped character adds nothing and shifts nothing; a branch here would be taken at every word.
      hash = ((hash << (shifts[code] ?? 0)) + (weights[code] ?? 0)) | 0;
      const bucket = hash >>> (HASH_BITS - BUCKET_BITS);
      if (((buckets[bucket >> 3] ?? 0) & (1 << (bucket & 7))) === 0 || weights[code] === 0) continue;
      for (const literal of this.#byHash.get(hash) ?? []) {
        const start = this.#startOf(text, literal.text, i);
        if (start < 0) continue;
        const end = this.#endOf(text, literal.text, i + 1);
        if (end > text.length) open = Math.min(open, start);
        else if (end >= 0) onFound(literal.about, start, end);
      }
    }
    return open;
  }

  /** The start of a literal's head that the text ends in; the text's length if none. */
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

  /** The place of the head that ends at `last`, or -1 for a different one with the same hash. */
  #startOf(text: string, literal: string, last: number): number {
    let index = last + 1;
    for (let i = this.#headLength - 1; i >= 0; i--) {
      do index -= 1;
      while (index >= 0 && this.#weights[text.charCodeAt(index)] === 0);
      if (index < 0 || text.charCodeAt(index) !== literal.charCodeAt(i)) return -1;
    }
    return index;
  }

  /** The place after the last character; -1 for a different text, one more than the text's length if the text ends first. */
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
 * Any good mixing of the bits will do; this is the finalizer of MurmurHash3. Characters of the same low byte share a weight, which costs no
 * more than a comparison where one is tried in vain: a program that starts for one question has no time for 65,536 different ones.
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
