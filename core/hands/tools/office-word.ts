// Reads a Word document as Markdown: headings, lists, tables, links, notes and comments. Deleted and moved text is left out. Pure.

import { OfficeBlocks } from './office-blocks.ts';
import { partOf, type OfficeParts, type Relation } from './office-parts.ts';
import { attribute, numberIn, scanXml, type XmlReader } from './office-xml.ts';

/** Deleted text, properties before a change, and second versions for old readers. */
const skipped: ReadonlySet<string> = new Set('del moveFrom Fallback tabs pPrChange rPrChange sectPrChange tblPrChange'.split(' '));
const HEADING_LEVELS = 6;

/** The marks of paragraphs by the id of their style. */
type Marks = ReadonlyMap<string, string>;

export function readWord(parts: OfficeParts, main: string): string {
  const relations = parts.relationsOf(main);
  const marks = marksOfStyles(parts.read(partOf(relations, 'styles')));
  const blocks = new OfficeBlocks();
  for (const path of [main, ...['footnotes', 'endnotes', 'comments'].map((kind) => partOf(relations, kind))]) {
    scanXml(parts.read(path), new WordFlow(blocks, marks, relations));
  }
  return blocks.toString();
}

class WordFlow implements XmlReader {
  readonly #blocks: OfficeBlocks;
  readonly #marks: Marks;
  readonly #relations: ReadonlyMap<string, Relation>;
  readonly #links: string[] = [];
  /** The mark of the next paragraph: the name of a note. */
  #note = '';
  #isText = false;

  constructor(blocks: OfficeBlocks, marks: Marks, relations: ReadonlyMap<string, Relation>) {
    this.#blocks = blocks;
    this.#marks = marks;
    this.#relations = relations;
  }

  open(name: string, attributes: string): boolean {
    if (skipped.has(name)) return false;
    this.#openBlock(name, attributes);
    this.#openInline(name, attributes);
    return true;
  }

  close(name: string): void {
    if (name === 't') this.#isText = false;
    else if (name === 'p') this.#blocks.endParagraph();
    else if (name === 'tc') this.#blocks.endCell();
    else if (name === 'tbl') this.#blocks.endTable();
    else if (name === 'hyperlink') this.#blocks.add(this.#links.pop() ?? '');
  }

  text(text: string): void {
    if (this.#isText) this.#blocks.add(text);
  }

  #openBlock(name: string, attributes: string): void {
    const value = (): string => attribute(attributes, 'val') ?? '';
    if (name === 'p') {
      this.#blocks.beginParagraph(this.#note);
      this.#note = '';
    } else if (name === 'pStyle') this.#mark(this.#marks.get(value()) ?? '');
    else if (name === 'outlineLvl') this.#mark(headingMark(Number(value()) + 1));
    else if (name === 'numPr') this.#mark('- ');
    else if (name === 'ilvl') this.#mark(`${'  '.repeat(Math.min(8, Number(value()) || 0))}- `);
    else if (name === 'tbl') this.#blocks.beginTable();
    else if (name === 'tr') this.#blocks.beginRow();
    else if (name === 'tc') this.#blocks.beginCell();
    else if (name === 'footnote' || name === 'endnote' || name === 'comment') this.#note = noteMark(name, attributes);
  }

  #openInline(name: string, attributes: string): void {
    if (name === 't') this.#isText = true;
    else if (name === 'tab') this.#blocks.add('\t');
    else if (name === 'br' || name === 'cr') this.#blocks.add('\n');
    else if (name === 'noBreakHyphen') this.#blocks.add('-');
    else if (name === 'hyperlink') this.#openLink(attribute(attributes, ':id'));
    else if (name === 'docPr') this.#blocks.add(pictureText(attribute(attributes, 'descr') ?? ''));
    else if (name.endsWith('Reference') && name !== 'annotationReference') this.#blocks.add(referenceText(name, attributes));
  }

  #mark(mark: string): void {
    if (mark !== '') this.#blocks.mark(mark);
  }

  #openLink(id: string | null): void {
    const link = this.#relations.get(id ?? '');
    const isOutside = link?.isOutside === true;
    if (isOutside) this.#blocks.add('[');
    this.#links.push(isOutside ? `](${link.target})` : '');
  }
}

/** Names of styles are localised by programs, but not in the file; their ids are. */
function marksOfStyles(source: string): Marks {
  const marks = new Map<string, string>();
  let id = '';
  scanXml(source, {
    open: (name, attributes) => {
      if (name === 'style') id = attribute(attributes, 'styleId') ?? '';
      else if (name === 'name') {
        const style = (attribute(attributes, 'val') ?? '').toLowerCase();
        const level = style === 'title' ? 1 : Number(/^heading (\d)$/.exec(style)?.[1] ?? 0);
        if (level > 0) marks.set(id, headingMark(level));
        else if (/^list (?:bullet|number)/.test(style)) marks.set(id, '- ');
      } else if (name === 'outlineLvl' && !marks.has(id)) marks.set(id, headingMark((numberIn(attributes, 'val') ?? 9) + 1));
      else if (name === 'numPr' && !marks.has(id)) marks.set(id, '- ');
      return true;
    },
  });
  return marks;
}

/** Body text has the level 10. */
function headingMark(level: number): string {
  return level >= 1 && level <= 9 ? `${'#'.repeat(Math.min(level, HEADING_LEVELS))} ` : '';
}

function noteMark(name: string, attributes: string): string {
  const id = attribute(attributes, 'id') ?? '';
  if (name === 'comment') return `[comment ${id}] ${attribute(attributes, 'author') ?? ''}: `;
  return `[${name} ${id}] `;
}

function referenceText(name: string, attributes: string): string {
  const kind = name.slice(0, -'Reference'.length);
  return kind === 'footnote' || kind === 'endnote' || kind === 'comment' ? `[${kind} ${attribute(attributes, 'id') ?? ''}]` : '';
}

function pictureText(description: string): string {
  return description.trim() === '' ? '' : `[picture: ${description.trim()}]`;
}
