// Finds where the literals that pattern rules fire at begin: one look-up of three characters a place, so that text without any costs
// next to nothing. Owns no rule.

import { assert } from '../../base/assert.ts';

const WINDOW = 3;
/** A third of the mask's bits: three characters fill it. */
const HASH_SHIFT = 5;
const HASH_MASK = 0x7fff;
/** Triggers are ASCII; other characters are folded onto it and cost a vain look at most. */
const ASCII_MASK = 0x7f;

const hashOf = (first: number, second: number, third: number): number =>
  ((first << (2 * HASH_SHIFT)) ^ (second << HASH_SHIFT) ^ third) & HASH_MASK;

const pairOf = (first: number, second: number): number => (first << 7) | second;

export class TriggerScanner {
  readonly #triggers: readonly string[];
  /** One bit an entry: the whole table stays in the nearest cache. */
  readonly #table = new Uint8Array((HASH_MASK + 1) >> 3);
  /** One bit for the first two characters of a trigger: tells most of those places apart that share an entry by chance. */
  readonly #pairs = new Uint8Array(((ASCII_MASK + 1) ** 2) >> 3);
  /** Ids by the first two characters. */
  readonly #byStart = new Map<number, number[]>();
  readonly #beginnings = new Set<string>();
  readonly #lengthMax: number;

  constructor(triggers: readonly string[]) {
    this.#triggers = triggers;
    this.#lengthMax = triggers.reduce((most, trigger) => Math.max(most, trigger.length), 0);
    for (const [id, trigger] of triggers.entries()) {
      assert(trigger.length >= 2 && /^[\x20-\x7e]+$|\t/.test(trigger), 'a trigger is two or more ASCII characters');
      const start = (trigger.charCodeAt(0) << 8) | trigger.charCodeAt(1);
      this.#byStart.set(start, [...(this.#byStart.get(start) ?? []), id]);
      const pair = pairOf(trigger.charCodeAt(0), trigger.charCodeAt(1));
      this.#pairs[pair >> 3] = (this.#pairs[pair >> 3] ?? 0) | (1 << (pair & 7));
      if (trigger.length >= WINDOW) this.#mark(trigger.slice(0, WINDOW));
      else for (let code = 0; code <= ASCII_MASK; code++) this.#mark(trigger + String.fromCharCode(code));
      for (let length = 1; length < trigger.length; length++) this.#beginnings.add(trigger.slice(0, length));
    }
  }

  /** Calls `onTrigger` for each occurrence, in order of place. */
  scan(text: string, onTrigger: (id: number, start: number) => void): void {
    const table = this.#table;
    const pairs = this.#pairs;
    let hash = 0;
    for (let i = 0; i < text.length; i++) {
      // Rolled on: what lies further back than the window is shifted out of it.
      hash = ((hash << HASH_SHIFT) ^ (text.charCodeAt(i) & ASCII_MASK)) & HASH_MASK;
      if (((table[hash >> 3] ?? 0) & (1 << (hash & 7))) === 0 || i < 2) continue;
      const pair = pairOf(text.charCodeAt(i - 2) & ASCII_MASK, text.charCodeAt(i - 1) & ASCII_MASK);
      if (((pairs[pair >> 3] ?? 0) & (1 << (pair & 7))) !== 0) this.#confirm(text, i - 2, onTrigger);
    }
    // A trigger of two characters may be the last there is. Reading beyond the end in the loop would make all of it several times slower.
    if (text.length >= 2) this.#confirm(text, text.length - 2, onTrigger);
  }

  #confirm(text: string, start: number, onTrigger: (id: number, start: number) => void): void {
    for (const id of this.#byStart.get((text.charCodeAt(start) << 8) | text.charCodeAt(start + 1)) ?? []) {
      if (text.startsWith(this.#triggers[id] ?? '', start)) onTrigger(id, start);
    }
  }

  /** Where a trigger begins that the text ends in the middle of; the length of the text where none does. */
  openAt(text: string): number {
    const from = Math.max(0, text.length - this.#lengthMax + 1);
    for (let start = from; start < text.length - 1; start++) {
      // Nearly every place is passed by here: cutting a text off at each would cost more than all the rest.
      if (!this.#byStart.has((text.charCodeAt(start) << 8) | text.charCodeAt(start + 1))) continue;
      if (this.#beginnings.has(text.slice(start))) return start;
    }
    return text.length > 0 && this.#beginnings.has(text.charAt(text.length - 1)) ? text.length - 1 : text.length;
  }

  #mark(window: string): void {
    const hash = hashOf(window.charCodeAt(0), window.charCodeAt(1), window.charCodeAt(2));
    this.#table[hash >> 3] = (this.#table[hash >> 3] ?? 0) | (1 << (hash & 7));
  }
}
