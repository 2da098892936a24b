// Reads an EPUB book as Markdown: its chapters in the order of its spine. Leaves out text that is hidden from people. Pure.

import { posix } from 'node:path';
import { decodeComponent } from '../../base/decode-component.ts';
import type { OfficeParts } from './office-parts.ts';
import { attribute, scanXml } from './office-xml.ts';
import { readWhole } from './web-readable.ts';

export interface Book {
  /** The path of the package document, which has the title. */
  readonly main: string;
  readonly text: string;
  /** True if its seller has locked the chapters. */
  readonly isLocked: boolean;
}

export function readEpub(parts: OfficeParts): Book {
  let main = '';
  scanXml(parts.read('META-INF/container.xml'), {
    open: (name, attributes) => {
      if (name === 'rootfile' && main === '') main = attribute(attributes, 'full-path') ?? '';
      return true;
    },
  });
  const chapters = chaptersOf(parts.read(main), posix.dirname(main));
  // Fonts are often encrypted too, which hides no text.
  const locks = parts.read('META-INF/encryption.xml');
  if (chapters.some((path) => locks.includes(`"${path}"`))) return { main, text: '', isLocked: true };
  // The chapters share their style sheets.
  const sheets = new Map<string, string>();
  const readSheet = (path: string): string => {
    const sheet = sheets.get(path) ?? parts.read(path);
    sheets.set(path, sheet);
    return sheet;
  };
  const texts = chapters.map((path) => readWhole(asHtml(parts.read(path)), (href) => readSheet(inFolder(posix.dirname(path), href))));
  return { main, text: texts.filter((text) => text !== '').join('\n\n'), isLocked: false };
}

/** The paths of the chapters, each once. */
function chaptersOf(source: string, folder: string): string[] {
  const paths = new Map<string, string>();
  const order = new Set<string>();
  scanXml(source, {
    open: (name, attributes) => {
      if (name === 'item') {
        const href = attribute(attributes, 'href') ?? '';
        paths.set(attribute(attributes, 'id') ?? '', inFolder(folder, href));
      } else if (name === 'itemref') order.add(attribute(attributes, 'idref') ?? '');
      return true;
    },
  });
  return [...new Set([...order].flatMap((id) => paths.get(id) ?? []))];
}

/** HTML, unlike XML, has no empty form of most elements: `<a id="x"/>` would contain all text that follows. */
function asHtml(source: string): string {
  return source.replaceAll(/<(?!br\b)([\w:-]+)([^<>]*)\/>/g, '<$1$2></$1>');
}

/** `href` is relative to the folder, and its letters may be encoded. */
function inFolder(folder: string, href: string): string {
  return posix.join(folder, decodeComponent(href));
}
