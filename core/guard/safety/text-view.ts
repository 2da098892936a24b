// A text as it can be read (escapes undone, base64 decoded), the stretch of the original each place of it came from, and the stretches to be
// redacted. Pure.

export interface Span {
  /** Where the words begin by which it was known: `password` of `password=…`. */
  readonly from: number;
  readonly start: number;
  readonly end: number;
  readonly name: string;
  /** Of overlapping spans the lowest rank gives its name. */
  readonly rank: number;
}

export interface TextView {
  readonly text: string;
  /** It ends where the original does: more text there would be more text here. */
  readonly reachesEnd: boolean;
  /** Where in the original the character at `index` begins, and where what stands before `index` ends. */
  startOf(index: number): number;
  endOf(index: number): number;
}

/** Ordered and disjoint: what overlaps becomes one span that covers all of it. */
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

/** The text from `from` to `to` with each span replaced. Spans are disjoint and inside. */
export function renderSpans(text: string, spans: readonly Span[], from = 0, to = text.length): string {
  let rendered = '';
  let at = from;
  for (const span of spans) {
    rendered += text.slice(at, span.start) + `[redacted:${span.name}]`;
    at = span.end;
  }
  return rendered + text.slice(at, to);
}
