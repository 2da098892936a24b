// HTML as a document to work on. Owns the gaps of the DOM library; fetches nothing and runs no script.

import domino from '@mixmark-io/domino';

export interface PageNode {
  readonly nodeType: number;
  readonly parentNode: PageNode | null;
  readonly firstChild: PageNode | null;
  readonly nextSibling: PageNode | null;
  textContent: string | null;
  removeChild(child: PageNode): void;
}

export interface PageElement extends PageNode {
  readonly tagName: string;
  readonly children: Iterable<PageElement> & { readonly length: number };
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  querySelectorAll(selector: string): Iterable<PageElement> & { readonly length: number };
  querySelector(selector: string): PageElement | null;
}

export interface PageDocument extends PageElement {
  readonly title: string;
  readonly body: PageElement | null;
  readonly documentElement: PageElement;
}

export const ELEMENT_NODE = 1;
export const COMMENT_NODE = 8;

/** Parses as browsers do, whatever is given. `url` is what relative links start from, unless the page names another base. */
export function openPage(html: string, url: string): PageDocument {
  const page = domino.createDocument(html, true) as PageDocument;
  makeListsIterable(page);
  const base = baseOf(page, url);
  for (const name of ['baseURI', 'documentURI']) Object.defineProperty(page, name, { value: base });
  return page;
}

/** Where a link leads, or null when that is not a place on the web or a mail address. */
export function absoluteLink(href: string, base: string): string | null {
  if (!URL.canParse(href, base)) return null;
  const { protocol, href: absolute } = new URL(href, base);
  return protocol === 'http:' || protocol === 'https:' || protocol === 'mailto:' ? absolute : null;
}

export function baseOf(page: PageDocument, url: string): string {
  const given = page.querySelector('base[href]')?.getAttribute('href') ?? '';
  const base = absoluteLink(given, url);
  return base === null || base.startsWith('mailto:') ? url : base;
}

/** The library's live lists have no iterator, which the reader of articles counts on. */
function makeListsIterable(page: PageDocument): void {
  for (const list of [page.querySelectorAll('html'), page.documentElement.children]) {
    const prototype = Object.getPrototypeOf(list) as object;
    if (Symbol.iterator in prototype) continue;
    Object.defineProperty(prototype, Symbol.iterator, {
      configurable: true,
      *value(this: { readonly length: number; item(index: number): unknown }) {
        for (let index = 0; index < this.length; index++) yield this.item(index);
      },
    });
  }
}
