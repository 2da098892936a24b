// Redacts text that arrives in pieces. Holds back only text that more text could turn into a secret, so that no secret slips through
// between two pieces and ordinary words pass at once.

import type { Analysis } from './redactor.ts';
import { renderSpans } from './text-view.ts';

/** The part of the redactor that a stream needs. */
export interface TextAnalyser {
  analyse(text: string, isOpen: boolean): Analysis;
}

/** The length of released text that is kept for patterns that look back. */
const CONTEXT_LENGTH = 128;
/** A word in the kept text is kept whole up to this length. The rest of a cut word would look like the start of another word. */
const WORD_LENGTH_MAX = 2_048;
/** An escape before a word determines where the word begins. */
const ESCAPE_LENGTH_MAX = 8;
/** The maximum length that a pattern may hold back. A registered value is always awaited. */
const HELD_LENGTH_MAX = 32_768;
/** Backslashes before a cut are held back with the character they escape. Real text never nests deeper. */
const BACKSLASHES_MAX = 64;

export class StreamRedactor {
  readonly #redactor: TextAnalyser;
  #context = '';
  #held = '';

  constructor(redactor: TextAnalyser) {
    this.#redactor = redactor;
  }

  /** Takes a piece. Returns the part that can be released now, redacted. */
  push(piece: string): string {
    this.#held += piece;
    return this.#giveOut(true);
  }

  /** Returns the rest, redacted. The stream can then be used for another text. */
  end(): string {
    const rest = this.#giveOut(false);
    this.#context = '';
    return rest;
  }

  #giveOut(isOpen: boolean): string {
    const text = this.#context + this.#held;
    const from = this.#context.length;
    const { spans, openValue, openPattern } = this.#redactor.analyse(text, isOpen);
    const isTooMuch = text.length - Math.max(openPattern, from) > HELD_LENGTH_MAX;
    let cut = Math.max(from, isTooMuch ? openValue : Math.min(openValue, openPattern));
    // A backslash belongs to the character it escapes, which may turn out to be the start of a secret.
    if (isOpen) cut = beforeBackslashes(text, cut, from);
    for (const span of [...spans].reverse()) if (span.from < cut && cut < span.end) cut = Math.max(from, span.from);
    const ready = spans
      .filter((span) => span.end > from && span.end <= cut)
      .map((span) => (span.start < from ? { ...span, start: from } : span));
    this.#held = text.slice(cut);
    this.#context = text.slice(contextStart(text, cut), cut);
    return renderSpans(text, ready, from, cut);
  }
}

function contextStart(text: string, cut: number): number {
  const least = Math.max(0, cut - WORD_LENGTH_MAX);
  let start = Math.max(0, cut - CONTEXT_LENGTH);
  while (start > least && /[\w-]/.test(text[start - 1] ?? '')) start -= 1;
  return Math.max(0, start - ESCAPE_LENGTH_MAX);
}

function beforeBackslashes(text: string, cut: number, from: number): number {
  const least = Math.max(from, cut - BACKSLASHES_MAX);
  let at = cut;
  while (at > least && text[at - 1] === '\\') at -= 1;
  return at;
}
