// What a person would read on a page, as Markdown. Pure work on text; made to run in a thread of its own, since a page may take
// long on purpose.

import { Readability } from '@mozilla/readability';
import { baseOf, openPage, type PageDocument, type PageElement } from './web-dom.ts';
import { removeHidden } from './web-hidden.ts';
import { toMarkdown } from './web-markdown.ts';
import { visibleText } from './web-text.ts';

export interface ReadablePage {
  readonly title: string;
  readonly markdown: string;
  /** Characters of text the page hides from people, left out. */
  readonly hiddenChars: number;
}

/** An article shorter than this, and a smaller part of its page, is taken for a wrong guess. */
const ARTICLE_CHARS_MIN = 500;
const ARTICLE_SHARE_MIN = 0.3;
const TITLE_CHARS_MAX = 300;

export function readPage(html: string, url: string): ReadablePage {
  try {
    const page = openPage(html, url);
    const title = visibleText(page.title).replaceAll(/\s+/g, ' ').trim().slice(0, TITLE_CHARS_MAX);
    const hiddenChars = removeHidden(page);
    const base = baseOf(page, url);
    const whole = page.body === null ? '' : plainLength(page.body);
    const body = page.body === null ? '' : toMarkdown(page.body, base);
    const article = readArticle(page);
    const isArticle = article !== null && (article.length >= ARTICLE_CHARS_MIN || article.length >= Number(whole) * ARTICLE_SHARE_MIN);
    return { title, markdown: visibleText(isArticle ? toMarkdown(article.element, base) : body), hiddenChars };
  } catch (cause) {
    // Nested deeper than the stack, which no page made for reading is.
    if (cause instanceof RangeError) return { title: '', markdown: visibleText(withoutTags(html)), hiddenChars: 0 };
    throw cause;
  }
}

/** Changes the page. */
function readArticle(page: PageDocument): { element: PageElement; length: number } | null {
  const reader = new Readability<PageElement>(page as never, {
    charThreshold: 200,
    disableJSONLD: true,
    serializer: (node) => node as unknown as PageElement,
  });
  const article = reader.parse();
  return article?.content ? { element: article.content, length: plainLength(article.content) } : null;
}

function plainLength(element: PageElement): number {
  return (element.textContent ?? '').replaceAll(/\s+/g, ' ').trim().length;
}

/** Text between tags, in one pass. */
export function withoutTags(html: string): string {
  const parts: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    parts.push(html.slice(at, open < 0 ? html.length : open));
    const close = open < 0 ? -1 : html.indexOf('>', open);
    if (close < 0) break;
    const raw = /^<(script|style)\b/i.exec(html.slice(open, open + 8))?.[1];
    const end = raw === undefined ? -1 : html.toLowerCase().indexOf(`</${raw.toLowerCase()}`, close);
    if (raw !== undefined && end < 0) break;
    at = raw === undefined ? close + 1 : end;
  }
  return parts.join(' ').replaceAll(/\s+/g, ' ').trim();
}
