// A text as it can be read (escapes undone, base64 decoded), with the range of the original behind each position, and the spans to redact.
// Pure.

export interface Span {
  /** The start of the words that identified the secret: `password` in `password=…`. */
  readonly from: number;
  readonly start: number;
  readonly end: number;
  readonly name: string;
  /** The lowest rank of overlapping spans determines the name. */
  readonly rank: number;
}

export interface TextView {
  readonly text: string;
  /** True if the view ends where the original does, so that more text there would extend it. */
  readonly reachesEnd: boolean;
  /** The start in the original of the character at `index`, and the end of the character before `index`. */
  startOf(index: number): number;
  endOf(index: number): number;
}

/** Separates parts of a view that are apart in the original. No secret contains this character. */
export const gap = '\uffff';

/** A view that is written character by character. More text does not extend it: an unfinished part is awaited as a whole. */
export class WrittenView implements TextView {
  text = '';
  readonly reachesEnd = false;
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  /** Adds characters that are encoded in this range of the original. */
  add(chars: string, start: number, end: number): void {
    this.text += chars;
    for (let i = 0; i < chars.length; i++) {
      this.#starts.push(start);
      this.#ends.push(end);
    }
  }

  startOf(index: number): number {
    return this.#starts[index] ?? this.#ends.at(-1) ?? 0;
  }

  endOf(index: number): number {
    return this.#ends[index - 1] ?? 0;
  }
}

/** Returns ordered and disjoint spans. Overlapping spans are merged into one that covers all of them. */
export function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start || a.rank - b.rank)) {
    const last = merged.at(-1);
    if (last === undefined || span.start >= last.end) {
      merged.push(span);
      continue;
    }
    const { name, rank } = span.rank < last.rank ? span : last;
    merged[merged.length - 1] = { ...last, from: Math.min(last.from, span.from), end: Math.max(last.end, span.end), name, rank };
  }
  return merged;
}

/** Returns the text from `from` to `to` with each span replaced. Spans must be disjoint and within the range. */
export function renderSpans(text: string, spans: readonly Span[], from = 0, to = text.length): string {
  let rendered = '';
  let at = from;
  for (const span of spans) {
    rendered += text.slice(at, span.start) + `[redacted:${span.name}]`;
    at = span.end;
  }
  return rendered + text.slice(at, to);
}
