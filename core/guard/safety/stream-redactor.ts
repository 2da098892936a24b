// Redacts text that arrives in pieces. Holds back only what more text could turn into a secret, so that nothing slips through
// between two pieces, and ordinary words pass at once.

import type { Analysis } from './redactor.ts';
import { renderSpans } from './text-view.ts';

/** The part of the redactor a stream needs. */
export interface TextAnalyser {
  analyse(text: string, isOpen: boolean): Analysis;
}

/** Already given out, kept for patterns that look at what stands before them. */
const CONTEXT_LENGTH = 128;
/** A pattern may keep this much waiting; a registered value is always waited for. */
const HELD_LENGTH_MAX = 32_768;
/** Backslashes before a cut that wait with what they escape; nothing is escaped more often in earnest. */
const BACKSLASHES_MAX = 64;

export class StreamRedactor {
  readonly #redactor: TextAnalyser;
  #context = '';
  #held = '';

  constructor(redactor: TextAnalyser) {
    this.#redactor = redactor;
  }

  /** Takes a piece; returns what can be given out now, redacted. */
  push(piece: string): string {
    this.#held += piece;
    return this.#giveOut(true);
  }

  /** The rest, redacted. The stream can be used again for another text. */
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
    // A backslash belongs to what it escapes, which may turn out to be the beginning of a secret.
    if (isOpen) cut = beforeBackslashes(text, cut, from);
    for (const span of [...spans].reverse()) if (span.from < cut && cut < span.end) cut = Math.max(from, span.from);
    const ready = spans
      .filter((span) => span.end > from && span.end <= cut)
      .map((span) => (span.start < from ? { ...span, start: from } : span));
    this.#held = text.slice(cut);
    this.#context = text.slice(Math.max(0, cut - CONTEXT_LENGTH), cut);
    return renderSpans(text, ready, from, cut);
  }
}

function beforeBackslashes(text: string, cut: number, from: number): number {
  const least = Math.max(from, cut - BACKSLASHES_MAX);
  let at = cut;
  while (at > least && text[at - 1] === '\\') at -= 1;
  return at;
}
