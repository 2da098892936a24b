// The messages between the window and the page that draws diagrams. The page is untrusted: its answers are validated like any input.

/** The names of the colours for diagrams, as in the window's tokens. */
export const diagramColours = [
  'sunken',
  'surface',
  'text',
  'text-2',
  'line-strong',
  'accent',
  'accent-soft',
  'amber',
  'amber-line',
  'amber-soft',
  'code-function',
  'code-keyword',
  'code-string',
  'code-constant',
] as const;

export interface DiagramLook {
  readonly isDark: boolean;
  /** As `#rrggbb`. */
  readonly colours: Readonly<Record<(typeof diagramColours)[number], string>>;
  readonly font: string;
  readonly fontPx: number;
}

export interface DiagramRequest {
  readonly source: string;
  readonly look: DiagramLook;
}

/** Why there is no picture: the source is invalid, draws too much or refers to something outside, or the page answered too late. */
export const diagramFailures = ['unreadable', 'large', 'outside', 'late'] as const;
export type DiagramFailure = (typeof diagramFailures)[number];

export type DiagramReply =
  | { readonly kind: 'drawn'; readonly widthPx: number; readonly heightPx: number }
  | { readonly kind: 'failed'; readonly why: DiagramFailure };

/** Longer sources are shown as text. */
export const diagramCharsMax = 20_000;
/** If the picture is wider or higher than this, its source is shown. */
export const diagramPxMax = 8000;

/** Null if the data is not a valid reply. */
export function readDiagramReply(data: unknown): DiagramReply | null {
  if (typeof data !== 'object' || data === null) return null;
  const { kind, widthPx, heightPx, why } = data as Readonly<Record<string, unknown>>;
  if (kind === 'drawn' && isLength(widthPx) && isLength(heightPx)) return { kind, widthPx, heightPx };
  const failure = diagramFailures.find((known) => known === why);
  return kind === 'failed' && failure !== undefined ? { kind, why: failure } : null;
}

function isLength(value: unknown): value is number {
  return typeof value === 'number' && value >= 1 && value <= diagramPxMax;
}
