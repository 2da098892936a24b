// Extracts the text of office documents: Word, Excel, PowerPoint, OpenDocument and EPUB files. Runs in a separate thread, because a document may
// be large, slow or malicious.

import type { DocumentText } from './document-text.ts';
import { OfficeBlocks } from './office-blocks.ts';
import { readExcel } from './office-excel.ts';
import { readOpenSheets, readOpenSlides, readOpenText } from './office-open.ts';
import { OfficeParts, partOf } from './office-parts.ts';
import { readWord } from './office-word.ts';
import { attribute, scanXml, type XmlReader } from './office-xml.ts';
import { visibleText } from './web-text.ts';

const TITLE_CHARS_MAX = 200;
type OfficePages = Pick<DocumentText, 'pages' | 'unit'>;

/** `mediaType` is that of the content. */
export async function readOffice(bytes: Uint8Array, mediaType: string): Promise<DocumentText> {
  const unread = (problem: string): DocumentText => ({ title: null, pages: [], unit: null, problem });
  try {
    const parts = new OfficeParts(Buffer.from(bytes));
    if (parts.read('META-INF/manifest.xml').includes('encryption-data')) return unread('It is locked with a password.');
    // Only books need the reader of pages.
    const book = mediaType === 'application/epub+zip' ? (await import('./office-epub.ts')).readEpub(parts) : null;
    if (book?.isLocked === true) return unread('It is locked by its seller.');
    const { pages, unit } = book === null ? pagesOf(parts, mediaType) : { pages: [book.text], unit: null };
    const shown = pages.map(visibleText);
    const problem = shown.every((page) => page.trim() === '') ? 'It holds no text, only pictures perhaps.' : null;
    return {
      title: titleOf(parts.read(book?.main) || parts.read('docProps/core.xml') || parts.read('meta.xml')),
      pages: shown,
      unit,
      problem,
    };
  } catch {
    return unread('It is damaged and cannot be read.');
  }
}

function pagesOf(parts: OfficeParts, mediaType: string): OfficePages {
  if (mediaType.includes('opendocument')) {
    const content = parts.read('content.xml');
    if (mediaType.includes('presentation')) return { pages: readOpenSlides(content), unit: 'slide' };
    return { pages: mediaType.includes('spreadsheet') ? asOne(readOpenSheets(content)) : [readOpenText(content)], unit: null };
  }
  const main = partOf(parts.relationsOf(''), 'officeDocument') ?? '';
  if (mediaType.includes('presentation')) return { pages: readSlides(parts, main), unit: 'slide' };
  return { pages: mediaType.includes('spreadsheet') ? asOne(readExcel(parts, main)) : [readWord(parts, main)], unit: null };
}

/** Sheets are sections of one text, each under its name. */
function asOne(sheets: readonly string[]): string[] {
  return [sheets.join('\n\n')];
}

/** Null if the document has none. */
function titleOf(source: string): string | null {
  let title = '';
  let isTitle = false;
  scanXml(source, {
    open: (name) => {
      isTitle = name === 'title' && title === '';
      return true;
    },
    close: () => {
      isTitle = false;
    },
    text: (text) => {
      if (isTitle) title += text;
    },
  });
  const shown = visibleText(title).trim().slice(0, TITLE_CHARS_MAX);
  return shown === '' ? null : shown;
}

// Reads a PowerPoint presentation: the text of each slide in the order of the show, its tables, and the speaker's notes. Pure.
function readSlides(parts: OfficeParts, main: string): string[] {
  const relations = parts.relationsOf(main);
  const slides: string[] = [];
  scanXml(parts.read(main), {
    open: (name, attributes) => {
      const path = name === 'sldId' ? relations.get(attribute(attributes, ':id') ?? '')?.target : undefined;
      if (path !== undefined) slides.push(readSlide(parts, path));
      return true;
    },
  });
  return slides;
}

function readSlide(parts: OfficeParts, path: string): string {
  const flow = new SlideFlow();
  scanXml(parts.read(path), flow);
  const notes = new SlideFlow();
  scanXml(parts.read(partOf(parts.relationsOf(path), 'notesSlide')), notes);
  const shown = `${flow.isHidden ? '[hidden slide]\n' : ''}${flow.toString()}`;
  return notes.toString() === '' ? shown : `${shown}\n\nNotes: ${notes.toString()}`;
}

class SlideFlow implements XmlReader {
  readonly #blocks = new OfficeBlocks('\n');
  isHidden = false;
  #isTitle = false;
  #isText = false;

  open(name: string, attributes: string): boolean {
    if (name === 'Fallback') return false;
    // The number and the date of a slide are not part of its text.
    if (name === 'fld') return !/^(?:slidenum|datetime)/.test(attribute(attributes, 'type') ?? '');
    if (name === 'sld') this.isHidden = attribute(attributes, 'show') === '0';
    else if (name === 'ph') this.#isTitle = /^(?:title|ctrTitle)$/.test(attribute(attributes, 'type') ?? '');
    else if (name === 'p') this.#blocks.beginParagraph(this.#isTitle ? '# ' : '');
    else if (name === 't') this.#isText = true;
    else if (name === 'br') this.#blocks.add('\n');
    else if (name === 'tbl') this.#blocks.beginTable();
    else if (name === 'tr') this.#blocks.beginRow();
    else if (name === 'tc') this.#blocks.beginCell();
    return true;
  }

  close(name: string): void {
    if (name === 't') this.#isText = false;
    else if (name === 'sp') this.#isTitle = false;
    else if (name === 'p') this.#blocks.endParagraph();
    else if (name === 'tc') this.#blocks.endCell();
    else if (name === 'tbl') this.#blocks.endTable();
  }

  text(text: string): void {
    if (this.#isText) this.#blocks.add(text);
  }

  toString(): string {
    return this.#blocks.toString();
  }
}
