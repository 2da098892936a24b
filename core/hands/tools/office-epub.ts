// Reads an EPUB book as Markdown: its chapters in the order of its spine. Leaves out text that is hidden from people. Pure.

import { posix } from 'node:path';
import { decodeComponent } from '../../base/decode-component.ts';
import { OfficeBlocks } from './office-blocks.ts';
import type { OfficeParts } from './office-parts.ts';
import { attribute, scanXml, type XmlReader } from './office-xml.ts';

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
  const texts = chapters.map((path) => {
    const flow = new ChapterFlow();
    scanXml(
      parts.read(path).replaceAll(/&([a-z]{3,6});/g, (whole, name: string) => signs.get(name) ?? whole),
      flow,
    );
    return flow.toString();
  });
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
        paths.set(attribute(attributes, 'id') ?? '', posix.join(folder, decodeComponent(href)));
      } else if (name === 'itemref') order.add(attribute(attributes, 'idref') ?? '');
      return true;
    },
  });
  return [...new Set([...order].flatMap((id) => paths.get(id) ?? []))];
}

/** The names of characters that pages have and XML has not. */
const signs = new Map(
  'nbsp:\u00A0, ndash:–, mdash:—, hellip:…, lsquo:‘, rsquo:’, ldquo:“, rdquo:”, laquo:«, raquo:»'
    .split(', ')
    .map((pair) => pair.split(':') as [name: string, sign: string]),
);
const unshown: ReadonlySet<string> = new Set('head script style template'.split(' '));
const blocks: ReadonlySet<string> = new Set(
  'p div h1 h2 h3 h4 h5 h6 li ul ol dl dt dd blockquote section article aside header footer nav pre figure figcaption hr body'.split(' '),
);
const DEPTH_MAX = 8;

class ChapterFlow implements XmlReader {
  readonly #blocks = new OfficeBlocks();
  readonly #links: string[] = [];
  #lists = 0;
  #mark = '';
  #hasText = false;
  #isLiteral = false;

  constructor() {
    this.#blocks.beginParagraph();
  }

  open(name: string, attributes: string): boolean {
    if (unshown.has(name) || isHidden(attributes)) return false;
    if (blocks.has(name)) this.#openBlock(name);
    else if (name === 'br') this.#blocks.add('\n');
    else if (name === 'img') this.#picture(attribute(attributes, 'alt') ?? '');
    else if (name === 'a') this.#openLink(attribute(attributes, 'href') ?? '');
    else this.#openTable(name);
    return true;
  }

  #openBlock(name: string): void {
    if (name === 'ul' || name === 'ol') this.#lists += 1;
    if (name === 'pre') this.#isLiteral = true;
    const level = /^h(\d)$/.exec(name)?.[1];
    if (name === 'li') this.#begin(`${'  '.repeat(Math.min(DEPTH_MAX, Math.max(0, this.#lists - 1)))}- `);
    else this.#begin(level === undefined ? '' : `${'#'.repeat(Number(level))} `);
  }

  #openTable(name: string): void {
    if (name !== 'table' && name !== 'tr' && name !== 'td' && name !== 'th') return;
    this.#begin('');
    if (name === 'table') this.#blocks.beginTable();
    else if (name === 'tr') this.#blocks.beginRow();
    else this.#blocks.beginCell();
  }

  close(name: string): void {
    if (name === 'a') this.#blocks.add(this.#links.pop() ?? '');
    if (!blocks.has(name) && name !== 'td' && name !== 'th' && name !== 'table') return;
    // The mark of an item holds for the paragraph in it.
    if (name === 'li' || name.startsWith('h')) this.#hasText = true;
    this.#begin('');
    if (name === 'ul' || name === 'ol') this.#lists -= 1;
    else if (name === 'pre') this.#isLiteral = false;
    else if (name === 'td' || name === 'th') this.#blocks.endCell();
    else if (name === 'table') this.#blocks.endTable();
  }

  text(text: string): void {
    const shown = this.#isLiteral ? text : text.replaceAll(/\s+/g, ' ');
    this.#blocks.add(this.#hasText || this.#isLiteral ? shown : shown.trimStart());
    if (shown.trim() !== '') this.#hasText = true;
  }

  #begin(mark: string): void {
    const kept = this.#hasText ? '' : this.#mark;
    this.#mark = mark === '' ? kept : mark;
    this.#blocks.endParagraph();
    this.#blocks.beginParagraph(this.#mark);
    this.#hasText = false;
  }

  #picture(description: string): void {
    if (description.trim() !== '') this.text(`[picture: ${description.trim()}]`);
  }

  #openLink(target: string): void {
    const isOutside = /^[a-z][a-z\d+.-]*:/i.test(target);
    if (isOutside) this.text('[');
    this.#links.push(isOutside ? `](${target})` : '');
  }

  toString(): string {
    this.#blocks.endParagraph();
    return this.#blocks.toString();
  }
}

function isHidden(attributes: string): boolean {
  return /\shidden(?:[\s=/]|$)/.test(attributes) || /display\s*:\s*none/i.test(attribute(attributes, 'style') ?? '');
}
