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
