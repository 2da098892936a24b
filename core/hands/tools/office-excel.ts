// Reads an Excel workbook, sheet by sheet. Dates and times, which are stored as numbers, are shown as such by the format of their cell. Pure.

import { columnOf, SheetText, sheetBudget, type SheetBudget } from './office-sheet.ts';
import { partOf, type OfficeParts } from './office-parts.ts';
import { attribute, numberIn, scanXml, type XmlReader } from './office-xml.ts';

type NumberKind = 'plain' | 'date' | 'duration';

/** The parts of a workbook that the cells of all sheets refer to. */
interface Book {
  readonly strings: readonly string[];
  /** The kinds of numbers by the cell format. */
  readonly kinds: readonly NumberKind[];
  readonly is1904: boolean;
}

const DAY_MS = 86_400_000;
/** Excel takes 1900 for a leap year, so its first two months are a day off. */
const WRONG_LEAP_DAY = 60;

export function readExcel(parts: OfficeParts, main: string): string[] {
  const relations = parts.relationsOf(main);
  const sheets: { name: string; path: string }[] = [];
  let is1904 = false;
  scanXml(parts.read(main), {
    open: (name, attributes) => {
      if (name === 'workbookPr') is1904 = /^(?:1|true)$/.test(attribute(attributes, 'date1904') ?? '');
      const relation = name === 'sheet' ? relations.get(attribute(attributes, ':id') ?? '') : undefined;
      const isHidden = (attribute(attributes, 'state') ?? 'visible') !== 'visible';
      if (relation?.kind === 'worksheet')
        sheets.push({ name: `${attribute(attributes, 'name') ?? ''}${isHidden ? ' (hidden)' : ''}`, path: relation.target });
      return true;
    },
  });
  const kinds = kindsOf(parts.read(partOf(relations, 'styles')));
  const book = { strings: stringsOf(parts.read(partOf(relations, 'sharedStrings'))), kinds, is1904 };
  const budget = sheetBudget();
  return sheets.map(({ name, path }) => readSheet(parts.read(path), { name, book, budget }));
}

function readSheet(source: string, { name, book, budget }: { name: string; book: Book; budget: SheetBudget }): string {
  const text = new SheetText(name, budget);
  scanXml(source, new Rows(text, book));
  return text.toString();
}

class Rows implements XmlReader {
  readonly #text: SheetText;
  readonly #book: Book;
  #row = 0;
  #column = 0;
  #cells: [column: number, text: string][] = [];
  #attributes = '';
  #value = '';
  #formula = '';
  #in: '' | 'v' | 't' | 'f' = '';

  constructor(text: SheetText, book: Book) {
    this.#text = text;
    this.#book = book;
  }

  open(name: string, attributes: string): boolean {
    if (name === 'rPh') return false;
    if (name === 'row') {
      this.#row = numberIn(attributes, 'r') ?? this.#row + 1;
      this.#column = 0;
      this.#cells = [];
    } else if (name === 'c') {
      this.#column = columnOf(attribute(attributes, 'r') ?? '') || this.#column + 1;
      this.#attributes = attributes;
      this.#value = '';
      this.#formula = '';
    } else if (name === 'v' || name === 't' || name === 'f') this.#in = name;
    return true;
  }

  close(name: string): void {
    if (name === 'c') this.#cells.push([this.#column, this.#shown()]);
    else if (name === 'row') this.#text.put(String(this.#row), this.#cells);
    else if (name === this.#in) this.#in = '';
  }

  text(text: string): void {
    if (this.#in === 'f') this.#formula += text;
    else if (this.#in !== '') this.#value += text;
  }

  #shown(): string {
    const value = this.#value;
    const type = attribute(this.#attributes, 't') ?? 'n';
    if (value === '') return this.#formula === '' ? '' : `=${this.#formula}`;
    if (type === 's') return this.#book.strings[Number(value)] ?? '';
    if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
    return type === 'n' ? numberText(value, this.#book.kinds[numberIn(this.#attributes, 's') ?? 0] ?? 'plain', this.#book.is1904) : value;
  }
}

/** The texts that cells refer to by their number. The reading of Japanese names is left out. */
function stringsOf(source: string): string[] {
  const strings: string[] = [];
  let text = '';
  let isText = false;
  scanXml(source, {
    open: (name) => {
      if (name === 'si') text = '';
      isText = name === 't';
      return name !== 'rPh';
    },
    close: (name) => {
      isText = false;
      if (name === 'si') strings.push(text);
    },
    text: (part) => {
      if (isText) text += part;
    },
  });
  return strings;
}

function kindsOf(source: string): NumberKind[] {
  const kinds: NumberKind[] = [];
  const own = new Map<number, string>();
  let isCellFormat = false;
  scanXml(source, {
    open: (name, attributes) => {
      const id = numberIn(attributes, 'numFmtId') ?? 0;
      if (name === 'numFmt') own.set(id, attribute(attributes, 'formatCode') ?? '');
      else if (name === 'cellXfs') isCellFormat = true;
      else if (name === 'xf' && isCellFormat) kinds.push(kindOf(id, own.get(id)));
      return true;
    },
    close: (name) => {
      if (name === 'cellXfs') isCellFormat = false;
    },
  });
  return kinds;
}

/** `code` is a format such as `dd/mm/yyyy`; without it the id names one of Excel's own. */
function kindOf(id: number, code: string | undefined): NumberKind {
  if (code === undefined) {
    if (id === 46) return 'duration';
    return (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58) ? 'date' : 'plain';
  }
  const letters = code.replaceAll(/"[^"]*"|\\.|_.|\*./g, '');
  if (/\[[hms]+\]/i.test(letters)) return 'duration';
  return /[dmyhs]/i.test(letters.replaceAll(/\[[^\]]*\]/g, '')) ? 'date' : 'plain';
}

function numberText(value: string, kind: NumberKind, is1904: boolean): string {
  const days = Number(value);
  if (kind === 'plain' || !Number.isFinite(days) || days < 0 || days > 2_958_466) return value;
  const seconds = Math.round(days * 86_400);
  const clock = timeText(kind === 'duration' ? seconds : seconds % 86_400);
  if (kind === 'duration' || days < 1) return clock;
  const start = is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < WRONG_LEAP_DAY ? 31 : 30);
  const date = new Date(start + Math.floor(seconds / 86_400) * DAY_MS).toISOString().slice(0, 10);
  return seconds % 86_400 === 0 ? date : `${date} ${clock}`;
}

function timeText(seconds: number): string {
  const two = (number: number): string => String(number).padStart(2, '0');
  const rest = seconds % 60;
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}${rest === 0 ? '' : `:${two(rest)}`}`;
}
