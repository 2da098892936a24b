// A measured figure, the bounds TrayClaw must meet, and how both are printed: one table for all sections.

export type Unit = 'ms' | 'µs' | 'MB' | '%' | '×' | 'KB' | 'tokens';

export interface Figure {
  readonly section: string;
  readonly name: string;
  readonly subject: string;
  readonly unit: Unit;
  readonly p50: number;
  readonly p99?: number;
  readonly max?: number;
  /** Milliseconds spent waiting for the disk, which `p50` excludes. */
  readonly syncMs?: number;
  readonly note?: string;
}

export interface Bound {
  readonly max: number;
  readonly of: 'p50' | 'p99';
}

export const ownName = 'TrayClaw';

/** Bounds by section and name. They apply only to TrayClaw's figures. */
const bounds: Readonly<Record<string, Bound>> = {
  'turn/plain': { max: 0.45, of: 'p50' },
  'turn/1 tool': { max: 0.8, of: 'p50' },
  'turn/10 tools': { max: 3.9, of: 'p50' },
  'turn/choice of a route': { max: 20, of: 'p50' },
  'turn/limits of a route': { max: 20, of: 'p50' },
  'turn/evaluation of the governor': { max: 50, of: 'p50' },
  'failover/added by a refused connection': { max: 50, of: 'p50' },
  'session/turn 1000 ÷ turn 10': { max: 1.2, of: 'p50' },
  'append/1 KB event, NORMAL': { max: 20, of: 'p50' },
  'pack/next pack, 100,000 events': { max: 3, of: 'p50' },
  'pack/next pack, 100,000 events, slowest': { max: 10, of: 'p99' },
  'pack/100,000 ÷ 1,000 events': { max: 1.5, of: 'p50' },
  'start/--version': { max: 100, of: 'p50' },
  'start/ask, beyond the model': { max: 400, of: 'p50' },
  'start/serve, idle memory': { max: 90, of: 'p50' },
  'start/serve, idle processor': { max: 0.1, of: 'p50' },
  'door/added to a turn': { max: 1, of: 'p50' },
  'work/added by a criterion': { max: 1, of: 'p50' },
  'mcp/added to a call': { max: 0.5, of: 'p50' },
  'mcp/memory of five servers': { max: 30, of: 'p50' },
  'panic/op to last death': { max: 250, of: 'p99' },
  'policy/one decision': { max: 0.1, of: 'p50' },
  'policy/policy.explain': { max: 0.3, of: 'p50' },
  'sandbox/added by the sandbox': { max: 60, of: 'p50' },
  'recall/by words': { max: 8, of: 'p50' },
  'recall/by words and meaning, 384 dimensions': { max: 40, of: 'p50' },
  'skills/1,000 skills, added to a start': { max: 20, of: 'p50' },
  'skills/1,000 skills, added to the first message': { max: 400, of: 'p50' },
  'skills/1,000 skills, shortlist': { max: 2, of: 'p50' },
  'skills/1,000 skills, one look at the folders': { max: 200, of: 'p50' },
  'skills/1,000 skills, memory': { max: 15, of: 'p50' },
  'window/bytes for first paint, as sent': { max: 80, of: 'p50' },
  'window/first paint': { max: 500, of: 'p50' },
  'window/open 10,000 messages': { max: 300, of: 'p50' },
  'window/worst frame while scrolling': { max: 50, of: 'p50' },
  'window/streaming, share of one core': { max: 20, of: 'p50' },
  'window/memory, turn 1000 over turn 200': { max: 1.1, of: 'p50' },
};

export interface Verdict {
  readonly bound: string;
  readonly verdict: 'ok' | 'over' | '';
}

export function judge(figure: Figure): Verdict {
  const bound = figure.subject === ownName ? bounds[`${figure.section}/${figure.name}`] : undefined;
  if (bound === undefined) return { bound: '', verdict: '' };
  const value = bound.of === 'p99' ? (figure.p99 ?? Number.NaN) : figure.p50;
  // The comparison is written so that a missing figure counts as over the bound.
  const verdict = value <= bound.max ? 'ok' : 'over';
  return { bound: `${bound.of === 'p99' ? 'p99 ' : ''}≤ ${bound.max}`, verdict };
}

const headings = ['section', 'what', 'subject', 'unit', 'p50', 'p99', 'max', 'sync', 'bound', '', 'note'];
const leftAligned = new Set([0, 1, 2, 3, 8, 9, 10]);

export function formatTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { section, name, subject, unit, note } = figure;
    const { bound, verdict } = judge(figure);
    return [
      section,
      name,
      subject,
      unit,
      shown(figure.p50),
      shown(figure.p99),
      shown(figure.max),
      shown(figure.syncMs),
      bound,
      verdict,
      note ?? '',
    ];
  });
  const widths = headings.map((heading, column) => Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => pad(cell, widths[column] ?? 0, leftAligned.has(column)))
      .join('  ')
      .trimEnd();
  return [line(headings), widths.map((width) => '─'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}

function pad(cell: string, width: number, isLeft: boolean): string {
  return isLeft ? cell.padEnd(width) : cell.padStart(width);
}

/** Formats three significant digits: more would suggest a precision that one run does not have. */
export function shown(value: number | undefined): string {
  if (value === undefined) return '';
  if (Number.isNaN(value)) return 'none';
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(3, digits));
}
