// Extracts the text of a PDF, page by page. Runs in a separate thread, because a document may be large, slow or malicious.

import type { DocumentText } from './document-text.ts';
import { characterMap, unknownCharacters } from './pdf-character-maps.ts';
import { visibleText } from './web-text.ts';

const TITLE_CHARS_MAX = 200;

export async function readPdf(bytes: Uint8Array): Promise<DocumentText> {
  const { extractText, getDocumentProxy, getMeta } = await import('unpdf');
  try {
    // The library refuses a Buffer.
    const document = await getDocumentProxy(new Uint8Array(bytes), { BinaryDataFactory: CharacterMaps, cMapPacked: false, verbosity: 0 });
    const { text } = await extractText(document, { mergePages: false });
    const { info } = await getMeta(document);
    const title = typeof info['Title'] === 'string' ? visibleText(info['Title']).trim().slice(0, TITLE_CHARS_MAX) : '';
    const pages = text.map((page) => visibleText(page).replaceAll(unknownCharacters, ''));
    const isEmpty = pages.every((page) => page.trim() === '');
    return {
      title: title === '' ? null : title,
      pages,
      unit: 'page',
      problem: isEmpty ? 'It holds no text, only pictures perhaps.' : null,
    };
  } catch {
    return { title: null, pages: [], unit: 'page', problem: 'It is no PDF that can be read, or it is locked.' };
  }
}

/** Fonts and decoders, which the library asks for as well, are needed only to draw a page. */
class CharacterMaps {
  fetch({ kind, filename }: { readonly kind: string; readonly filename: string }): Promise<Uint8Array> {
    const map = kind === 'cMapUrl' ? characterMap(filename) : null;
    return map === null ? Promise.reject(new Error(`There is no ${filename}.`)) : Promise.resolve(Buffer.from(map));
  }
}
