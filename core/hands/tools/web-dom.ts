// Parses HTML into a document. Works around gaps of the DOM library; fetches nothing and runs no script.

// eslint-disable-next-line typescript/triple-slash-reference -- a compiler that starts from the library finds these types no other way
/// <reference path="./domino.d.ts" />

import domino from '@mixmark-io/domino';
import { assert } from '../../base/assert.ts';

export interface PageNode {
  readonly nodeType: number;
  readonly parentNode: PageNode | null;
  readonly firstChild: PageNode | null;
  readonly nextSibling: PageNode | null;
  textContent: string | null;
  removeChild(child: PageNode): void;
  insertBefore(child: PageNode, before: PageNode | null): void;
}

export interface PageElement extends PageNode {
  readonly tagName: string;
  readonly children: Iterable<PageElement> & { readonly length: number };
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  /** A static list. */
  querySelectorAll(selector: string): readonly PageElement[];
  getElementsByTagName(name: string): { readonly length: number };
  /** Returns undefined where the standard returns null. */
  querySelector(selector: string): PageElement | undefined;
}

export interface PageDocument extends PageElement {
  readonly title: string;
  readonly body: PageElement | null;
  readonly documentElement: PageElement;
}

export const ELEMENT_NODE = 1;
export const TEXT_NODE = 3;
export const COMMENT_NODE = 8;

/** Parses any input like a browser. `url` is the base of relative links, unless the page names another. */
export function openPage(html: string, url: string): PageDocument {
  const page = domino.createDocument(html, true) as PageDocument;
  mendLists(page);
  const base = baseOf(page, url);
  for (const name of ['baseURI', 'documentURI']) Object.defineProperty(page, name, { value: base });
  return page;
}

/** The target of a link, or null if it is not a web or mail address. */
export function absoluteLink(href: string, base: string): string | null {
  if (!URL.canParse(href, base)) return null;
  const { protocol, href: absolute } = new URL(href, base);
  return protocol === 'http:' || protocol === 'https:' || protocol === 'mailto:' ? absolute : null;
}

/** All text below, in order, without recursion: a page may be nested deeper than the stack. `gap` separates two elements. */
export function textOf(root: PageNode, gap: string): string {
  const parts: string[] = [];
  const open: PageNode[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.nodeType === TEXT_NODE) parts.push(node.textContent ?? '');
    else if (node !== root) parts.push(gap);
    const children: PageNode[] = [];
    for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
    open.push(...children.reverse());
  }
  return parts.join('');
}

export function baseOf(page: PageDocument, url: string): string {
  const given = page.querySelector('base[href]')?.getAttribute('href') ?? '';
  const base = absoluteLink(given, url);
  return base === null || base.startsWith('mailto:') ? url : base;
}

/**
 * Fixes the library's lists to match the DOM standard, as the article reader expects: they can be iterated, their numbered members are
 * current, and a selector's result does not change while it is processed.
 */
function mendLists(page: PageDocument): void {
  makeFindStatic(page);
  const element = ownerOf(page.documentElement, 'attributes');
  const htmlElement = belowOf(page.documentElement, element);
  if (Object.hasOwn(htmlElement, 'children')) return;
  for (const list of [page.documentElement.children, page.getElementsByTagName('html')]) makeIterable(ownerOf(list, 'item'));
  // oxlint-disable-next-line typescript/unbound-method -- it is called with the element it is asked of
  const children = Object.getOwnPropertyDescriptor(element, 'children')?.get;
  Object.defineProperty(htmlElement, 'children', {
    get(this: object) {
      const list = children?.call(this) as { readonly length: number };
      // Reading the length refreshes the members.
      return list.length >= 0 ? list : [];
    },
  });
  makeFindStatic(htmlElement as PageElement);
}

function makeFindStatic(owner: Pick<PageElement, 'querySelectorAll'>): void {
  const find = owner.querySelectorAll;
  Object.defineProperty(owner, 'querySelectorAll', {
    value(this: object, selector: string) {
      const found = find.call(this, selector) as unknown as { readonly length: number; item(index: number): PageElement };
      return Array.from({ length: found.length }, (_, index) => found.item(index));
    },
  });
}

/** The prototype directly below the library's own, which cannot be changed. */
function belowOf(object: object, above: object): object {
  let below = object;
  for (let next: unknown = below; next !== above && next !== null; next = Object.getPrototypeOf(next)) below = next as object;
  return below;
}

function ownerOf(object: object, name: string): object {
  let owner: object | null = object;
  while (owner !== null && !Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner) as object | null;
  assert(owner !== null, `the document library has no ${name}`);
  return owner;
}

function makeIterable(prototype: object): void {
  if (Symbol.iterator in prototype) return;
  Object.defineProperty(prototype, Symbol.iterator, {
    configurable: true,
    *value(this: { readonly length: number; item(index: number): unknown }) {
      for (let index = 0; index < this.length; index++) yield this.item(index);
    },
  });
}
