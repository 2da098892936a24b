// A stretch of text to be redacted, and how several become one. Pure.

export interface Span {
  readonly start: number;
  readonly end: number;
  readonly name: string;
  /** Of overlapping spans the lowest rank gives its name. */
  readonly rank: number;
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
    merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, span.end), name, rank };
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
