// Reads documents of the OpenDocument format: texts as Markdown, spreadsheets by sheet, presentations by slide. Pure.

import { OfficeBlocks } from './office-blocks.ts';
import { SheetText, sheetBudget } from './office-sheet.ts';
import { attribute, numberIn, scanXml, type XmlReader } from './office-xml.ts';

/** A format may repeat a cell to the edge of the sheet. */
const REPEATED_MAX = 100;
const aboutComments: ReadonlySet<string> = new Set(['creator', 'creator-initials', 'date', 'date-string', 'initials']);

export function readOpenText(content: string): string {
  const flow = new OpenFlow(new OfficeBlocks());
  scanXml(content, flow);
  return flow.toString();
}

export function readOpenSlides(content: string): string[] {
  const slides: string[] = [];
  let flow = new OpenFlow(new OfficeBlocks('\n'));
  scanXml(content, {
    open: (name, attributes) => {
      if (name === 'page') flow = new OpenFlow(new OfficeBlocks('\n'));
      if (name === 'notes') flow.next = 'Notes: ';
      return flow.open(name, attributes);
    },
    close: (name) => {
      flow.close(name);
      if (name === 'page') slides.push(flow.toString());
    },
    text: (text) => flow.text(text),
  });
  return slides;
}

class OpenFlow implements XmlReader {
  readonly #blocks: OfficeBlocks;
  /** The mark of the next paragraph. */
  next = '';
  #listDepth = 0;
  #isComment = false;
  readonly #links: string[] = [];

  constructor(blocks: OfficeBlocks) {
    this.#blocks = blocks;
  }

  open(name: string, attributes: string): boolean {
    if (name === 'tracked-changes' || name === 'forms' || (this.#isComment && aboutComments.has(name))) return false;
    this.#openBlock(name, attributes);
    this.#openInline(name, attributes);
    return true;
  }

  #openBlock(name: string, attributes: string): void {
    if (name === 'p' || name === 'h') this.#beginParagraph(name, attributes);
    else if (name === 'list') this.#listDepth += 1;
    else if (name === 'list-item') this.next = `${'  '.repeat(Math.max(0, Math.min(8, this.#listDepth - 1)))}- `;
    else if (name === 'note') this.next = '[note] ';
    else if (name === 'annotation') {
      this.#isComment = true;
      this.next = '[comment] ';
    } else if (name === 'table') this.#blocks.beginTable();
    else if (name === 'table-row') this.#blocks.beginRow();
    else if (name === 'table-cell' || name === 'covered-table-cell') this.#blocks.beginCell();
  }

  #openInline(name: string, attributes: string): void {
    if (name === 'tab') this.#blocks.add('\t');
    else if (name === 'line-break') this.#blocks.add('\n');
    else if (name === 's') this.#blocks.add(' '.repeat(Math.min(REPEATED_MAX, numberIn(attributes, 'c') ?? 1)));
    else if (name === 'a') {
      const target = attribute(attributes, 'href') ?? '';
      const isOutside = /^[a-z][a-z\d+.-]*:/i.test(target);
      if (isOutside) this.#blocks.add('[');
      this.#links.push(isOutside ? `](${target})` : '');
    }
  }

  close(name: string): void {
    if (name === 'p' || name === 'h') this.#blocks.endParagraph();
    else if (name === 'list') this.#listDepth -= 1;
    else if (name === 'annotation') this.#isComment = false;
    else if (name === 'a') this.#blocks.add(this.#links.pop() ?? '');
    else if (name === 'table-cell' || name === 'covered-table-cell') this.#blocks.endCell();
    else if (name === 'table') this.#blocks.endTable();
  }

  text(text: string): void {
    this.#blocks.add(text.replaceAll(/\s+/g, ' '));
  }

  toString(): string {
    return this.#blocks.toString();
  }

  #beginParagraph(name: string, attributes: string): void {
    const level = name === 'h' ? (numberIn(attributes, 'outline-level') ?? 1) : attribute(attributes, 'style-name') === 'Title' ? 1 : 0;
    this.#blocks.beginParagraph(level > 0 ? `${'#'.repeat(Math.min(6, level))} ` : this.next);
    this.next = '';
  }
}

export function readOpenSheets(content: string): string[] {
  const budget = sheetBudget();
  const sheets: string[] = [];
  let rows: OpenRows | null = null;
  scanXml(content, {
    open: (name, attributes) => {
      if (name === 'annotation' || name === 'shapes' || name === 'tracked-changes') return false;
      if (name === 'table') rows = new OpenRows(new SheetText(attribute(attributes, 'name') ?? '', budget));
      return rows?.open(name, attributes) ?? true;
    },
    close: (name) => {
      rows?.close(name);
      if (name !== 'table' || rows === null) return;
      sheets.push(rows.toString());
      rows = null;
    },
    text: (text) => rows?.text(text),
  });
  return sheets;
}

class OpenRows implements XmlReader {
  readonly #sheet: SheetText;
  #row = 1;
  #rows = 1;
  #column = 1;
  #cells: [column: number, text: string][] = [];
  #attributes = '';
  #text = '';
  #isText = false;

  constructor(sheet: SheetText) {
    this.#sheet = sheet;
  }

  open(name: string, attributes: string): boolean {
    if (name === 'table-row') {
      this.#rows = numberIn(attributes, 'number-rows-repeated') ?? 1;
      this.#column = 1;
      this.#cells = [];
    } else if (name === 'table-cell' || name === 'covered-table-cell') {
      this.#attributes = attributes;
      this.#text = '';
    } else if (name === 'p') {
      if (this.#text !== '') this.#text += ' ';
      this.#isText = true;
    } else if (name === 's') this.#text += ' ';
    return true;
  }

  close(name: string): void {
    if (name === 'p') this.#isText = false;
    else if (name === 'table-cell' || name === 'covered-table-cell') this.#endCell();
    else if (name === 'table-row') {
      this.#sheet.put(this.#rows === 1 ? String(this.#row) : `${this.#row}–${this.#row + this.#rows - 1}`, this.#cells);
      this.#row += this.#rows;
    }
  }

  text(text: string): void {
    if (this.#isText) this.#text += text;
  }

  toString(): string {
    return this.#sheet.toString();
  }

  #endCell(): void {
    const repeated = numberIn(this.#attributes, 'number-columns-repeated') ?? 1;
    const shown = this.#shown();
    if (shown !== '')
      for (let index = 0; index < Math.min(repeated, REPEATED_MAX); index += 1) this.#cells.push([this.#column + index, shown]);
    this.#column += repeated;
  }

  /** Numbers and dates as they are stored, since their text is rounded and in the form of a country. */
  #shown(): string {
    const value = (name: string): string | null => attribute(this.#attributes, name);
    const type = value('office:value-type') ?? value('value-type');
    if (type === 'date') return value('date-value')?.replace('T', ' ') ?? this.#text;
    const isNumber = type === 'percentage' || type === 'currency' || (type === 'float' && !/^(?:TRUE|FALSE)$/.test(this.#text));
    return (isNumber ? value(':value') : null) ?? this.#text;
  }
}
