// Parses comma- or tab-separated values into rows, after RFC 4180: quoted cells may contain separators, line ends and doubled quotes. Pure.

interface Read {
  readonly cell: string;
  /** The position after the cell. */
  readonly next: number;
}

/** At most this many rows. With a broken quote the rest of the text becomes one cell; it is never an error. */
export function csvRows(text: string, separator: ',' | '\t' | ';', rowsMax: number): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (let at = 0; at < text.length && rows.length < rowsMax; at++) {
    const quoted = text[at] === '"' ? readQuoted(text, at + 1) : { cell: '', next: at };
    const plain = readPlain(text, quoted.next, separator);
    row.push(quoted.cell + plain.cell);
    at = plain.next;
    if (text[at] === separator && at + 1 < text.length) continue;
    if (text[at] === separator) row.push('');
    rows.push(row);
    row = [];
  }
  return rows;
}

function readQuoted(text: string, from: number): Read {
  let end = text.indexOf('"', from);
  while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
  const cell = text.slice(from, end < 0 ? text.length : end).replaceAll('""', '"');
  return { cell, next: end < 0 ? text.length : end + 1 };
}

function readPlain(text: string, from: number, separator: string): Read {
  let next = from;
  while (next < text.length && text[next] !== separator && text[next] !== '\n') next++;
  const cell = text.slice(from, next);
  return { cell: text[next] === '\n' ? cell.replace(/\r$/, '') : cell, next };
}

/** The separator that occurs most often in the first line. */
export function separatorOf(text: string): ',' | '\t' | ';' {
  const [line = ''] = text.split('\n', 1);
  const counted = ([',', '\t', ';'] as const).map((separator) => ({ separator, count: line.split(separator).length }));
  return counted.reduce((best, one) => (one.count > best.count ? one : best)).separator;
}
