// Finds where the literals that pattern rules fire at begin: one look-up of three characters a place, so that text without any costs
// next to nothing. Owns no rule.

import { assert } from '../../base/assert.ts';

const WINDOW = 3;
const HASH_MASK = 0x7fff;
/** Triggers are ASCII; other characters are folded onto it and cost a vain look at most. */
const ASCII_MASK = 0x7f;

const hashOf = (first: number, second: number, third: number): number => ((first << 10) ^ (second << 5) ^ third) & HASH_MASK;

export class TriggerScanner {
  readonly #triggers: readonly string[];
  /** One bit an entry: the whole table stays in the nearest cache. */
  readonly #table = new Uint8Array((HASH_MASK + 1) >> 3);
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
      if (trigger.length >= WINDOW) this.#mark(trigger.slice(0, WINDOW));
      else for (let code = 0; code <= ASCII_MASK; code++) this.#mark(trigger + String.fromCharCode(code));
      for (let length = 1; length < trigger.length; length++) this.#beginnings.add(trigger.slice(0, length));
    }
  }

  /** Calls `onTrigger` for each occurrence, in order of place. */
  scan(text: string, onTrigger: (id: number, start: number) => void): void {
    const table = this.#table;
    let before = 0;
    let last = 0;
    // One place beyond the end: a trigger of two characters may be the last there is.
    for (let i = 0; i <= text.length; i++) {
      const code = text.charCodeAt(i) & ASCII_MASK;
      const hash = hashOf(before, last, code);
      before = last;
      last = code;
      if (((table[hash >> 3] ?? 0) & (1 << (hash & 7))) === 0 || i < 2) continue;
      for (const id of this.#byStart.get((text.charCodeAt(i - 2) << 8) | text.charCodeAt(i - 1)) ?? []) {
        if (text.startsWith(this.#triggers[id] ?? '', i - 2)) onTrigger(id, i - 2);
      }
    }
  }

  /** Where a trigger begins that the text ends in the middle of; the length of the text where none does. */
  openAt(text: string): number {
    const from = Math.max(0, text.length - this.#lengthMax + 1);
    for (let start = from; start < text.length; start++) if (this.#beginnings.has(text.slice(start))) return start;
    return text.length;
  }

  #mark(window: string): void {
    const hash = hashOf(window.charCodeAt(0), window.charCodeAt(1), window.charCodeAt(2));
    this.#table[hash >> 3] = (this.#table[hash >> 3] ?? 0) | (1 << (hash & 7));
  }
}
