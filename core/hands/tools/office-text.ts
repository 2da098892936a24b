// Extracts the text of office documents: Word, Excel, PowerPoint, OpenDocument and EPUB files. Runs in a separate thread, because a document may
// be large, slow or malicious.

import type { DocumentText } from './document-text.ts';
import { readEpub } from './office-epub.ts';
import { readExcel } from './office-excel.ts';
import { readOpenSheets, readOpenSlides, readOpenText } from './office-open.ts';
import { OfficeParts, partOf } from './office-parts.ts';
import { readSlides } from './office-slides.ts';
import { readWord } from './office-word.ts';
import { scanXml } from './office-xml.ts';
import { visibleText } from './web-text.ts';

const TITLE_CHARS_MAX = 200;
type OfficePages = Pick<DocumentText, 'pages' | 'unit'>;

/** `mediaType` is that of the content. */
export function readOffice(bytes: Uint8Array, mediaType: string): DocumentText {
  const unread = (problem: string): DocumentText => ({ title: null, pages: [], unit: null, problem });
  try {
    const parts = new OfficeParts(Buffer.from(bytes));
    if (parts.read('META-INF/manifest.xml').includes('encryption-data')) return unread('It is locked with a password.');
    const book = mediaType === 'application/epub+zip' ? readEpub(parts) : null;
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
