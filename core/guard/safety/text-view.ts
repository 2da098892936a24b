// A text as it can be read (escapes undone, base64 decoded), with the stretch of the original that each place of it came from, and the spans
// to redact. Pure.

export interface Span {
  /** Where the words begin that identified it: `password` of `password=…`. */
  readonly from: number;
  readonly start: number;
  readonly end: number;
  readonly name: string;
  /** Of overlapping spans, the lowest rank gives the name. */
  readonly rank: number;
}

export interface TextView {
  readonly text: string;
  /** It ends where the original does: more text there would extend it. */
  readonly reachesEnd: boolean;
  /** Where in the original the character at `index` begins, and where the one before `index` ends. */
  startOf(index: number): number;
  endOf(index: number): number;
}

/** Ordered and disjoint: overlapping spans become one that covers all of them. */
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
