// Finds registered values in text, whatever stands between their characters that programs put there: line breaks and indents of
// folded text, quotes and backslashes of shells, the plus of forms. One rolling hash, so that the number of values costs nothing.

/** One shape of a value, squeezed: without what is passed over. */
export interface NamedForm {
  readonly name: string;
  readonly text: string;
  /** The character after a base64 match holds bits of the value as well. */
  readonly isBase64: boolean;
}

export interface FoundForm {
  readonly form: NamedForm;
  readonly start: number;
  readonly end: number;
}

/** What is passed over, in values and in text alike. */
const skipped = /[\s'"\\`+]+/g;
/** Characters the rolling hash covers: 4 bits a character leave the 32 bits after eight of them. */
export const headLength = 8;
const HASH_SHIFT = 4;
const BUCKET_BITS = 16;

export const squeeze = (text: string): string => text.replace(skipped, '');

export class ValueFinder {
  /** Zero for what is passed over. */
  readonly #weights = createWeights();
  readonly #shifts = Uint8Array.from(this.#weights, (weight) => (weight === 0 ? 0 : HASH_SHIFT));
  /** A bit a bucket: the whole table stays in the nearest cache. */
  readonly #buckets = new Uint8Array((1 << BUCKET_BITS) >> 3);
  readonly #byHash = new Map<number, NamedForm[]>();
  readonly #beginnings = new Set<string>();

  /** Forms are squeezed and at least `headLength` long. */
  constructor(forms: readonly NamedForm[]) {
    for (const form of forms) {
      let hash = 0;
      for (let i = 0; i < headLength; i++) hash = ((hash << HASH_SHIFT) + (this.#weights[form.text.charCodeAt(i)] ?? 0)) | 0;
      this.#byHash.set(hash, [...(this.#byHash.get(hash) ?? []), form]);
      const bucket = hash >>> (32 - BUCKET_BITS);
      this.#buckets[bucket >> 3] = (this.#buckets[bucket >> 3] ?? 0) | (1 << (bucket & 7));
      for (let length = 1; length < headLength; length++) this.#beginnings.add(form.text.slice(0, length));
    }
  }

  /** Calls `onFound` for each occurrence. Returns where a value begins that the text ends behind the head of; else the text's length. */
  scan(text: string, onFound: (found: FoundForm) => void): number {
    if (this.#byHash.size === 0) return text.length;
    const weights = this.#weights;
    const shifts = this.#shifts;
    const buckets = this.#buckets;
    let open = text.length;
    let hash = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      // What is passed over adds nothing and shifts nothing; a branch here would be taken at every word.
      hash = ((hash << (shifts[code] ?? 0)) + (weights[code] ?? 0)) | 0;
      const bucket = hash >>> (32 - BUCKET_BITS);
      if (((buckets[bucket >> 3] ?? 0) & (1 << (bucket & 7))) === 0) continue;
      for (const form of this.#byHash.get(hash) ?? []) {
        const start = this.#startOf(text, form, i);
        if (start < 0) continue;
        const end = this.#endOf(text, form, i + 1);
        if (end === text.length + 1) open = Math.min(open, start);
        else if (end >= 0) onFound({ form, start, end });
      }
    }
    return open;
  }

  /** Where the text ends in the first few characters of a value; its length when in none. */
  openBeginning(text: string): number {
    let open = text.length;
    if (this.#byHash.size === 0) return open;
    let tail = '';
    for (let index = text.length - 1; index >= 0 && tail.length < headLength - 1; index--) {
      if (this.#weights[text.charCodeAt(index)] === 0) continue;
      tail = text.charAt(index) + tail;
      if (this.#beginnings.has(tail)) open = index;
    }
    return open;
  }

  /** The place of the head that ends at `last`, or -1 when it is another one of the same hash. */
  #startOf(text: string, form: NamedForm, last: number): number {
    let index = last + 1;
    for (let i = headLength - 1; i >= 0; i--) {
      do index -= 1;
      while (index >= 0 && this.#weights[text.charCodeAt(index)] === 0);
      if (index < 0 || text.charCodeAt(index) !== form.text.charCodeAt(i)) return -1;
    }
    return index;
  }

  /** After the last character; -1 for another text, one beyond the text's length when the text ends first. */
  #endOf(text: string, form: NamedForm, from: number): number {
    let end = from;
    for (let i = headLength; i < form.text.length; end++) {
      if (end >= text.length) return text.length + 1;
      const code = text.charCodeAt(end);
      if (this.#weights[code] === 0) continue;
      if (code !== form.text.charCodeAt(i)) return -1;
      i += 1;
    }
    return end;
  }
}

/** Any spread of bits will do; this is the finalizer of MurmurHash3. */
function createWeights(): Int32Array {
  const weights = new Int32Array(65_536);
  for (let code = 0; code < weights.length; code++) {
    let bits = Math.imul(code + 1, 0x9e3779b1);
    bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
    bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
    weights[code] = (bits ^ (bits >>> 16)) | 1;
  }
  for (const code of [0x20, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0xa0, 0x22, 0x27, 0x5c, 0x60, 0x2b, 0xfeff, 0x2028, 0x2029]) weights[code] = 0;
  for (let code = 0x80; code < weights.length; code++) if (/\s/.test(String.fromCharCode(code))) weights[code] = 0;
  return weights;
}
