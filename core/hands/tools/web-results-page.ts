// Parses the results on DuckDuckGo's page without scripts. Pure text processing; runs in the page thread.

import { absoluteLink, openPage, type PageElement } from './web-dom.ts';

export interface PageResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

export type ResultsPage =
  | { readonly kind: 'results'; readonly results: readonly PageResult[] }
  /** The engine demands proof of being human instead of giving results. */
  | { readonly kind: 'blocked' };

const PAGE_URL = 'https://html.duckduckgo.com/html/';

export function readResultsPage(html: string): ResultsPage {
  const page = openPage(html, PAGE_URL);
  const results: PageResult[] = [];
  for (const link of page.querySelectorAll('a.result__a')) {
    const block = ancestor(link, /(?:^|\s)result(?:\s|$)/);
    if (block !== null && /(?:^|\s)result--ad(?:\s|$)/.test(block.getAttribute('class') ?? '')) continue;
    const url = targetOf(link.getAttribute('href') ?? '');
    if (url === null) continue;
    results.push({ title: plainText(link), url, snippet: plainText(block?.querySelector('.result__snippet')) });
  }
  const isWall =
    results.length === 0 &&
    page.querySelector('.no-results') === undefined &&
    /g-recaptcha|are you a human|challenge-form|anomaly/i.test(html);
  return isWall ? { kind: 'blocked' } : { kind: 'results', results };
}

/** Results link to the engine's own redirect; the target is in its query. */
function targetOf(href: string): string | null {
  const link = absoluteLink(href, PAGE_URL);
  if (link === null) return null;
  const { hostname, pathname, searchParams } = new URL(link);
  const isLed = /(?:^|\.)duckduckgo\.com$/.test(hostname) && pathname === '/l/';
  const target = isLed ? absoluteLink(searchParams.get('uddg') ?? '', PAGE_URL) : link;
  return target !== null && /^https?:/.test(target) && !/^https?:\/\/(?:[\w-]+\.)?duckduckgo\.com\//.test(target) ? target : null;
}

function ancestor(element: PageElement, className: RegExp): PageElement | null {
  let node = element.parentNode as PageElement | null;
  while (node !== null && !(typeof node.getAttribute === 'function' && className.test(node.getAttribute('class') ?? ''))) {
    node = node.parentNode as PageElement | null;
  }
  return node;
}

function plainText(element: PageElement | undefined): string {
  return (element?.textContent ?? '').replaceAll(/\s+/g, ' ').trim();
}
