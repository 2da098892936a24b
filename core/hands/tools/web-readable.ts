// Extracts the readable text of a page as Markdown. Pure text processing; runs in a separate thread, because a malicious page may take
// long.

import { Readability } from '@mozilla/readability';
import { baseOf, openPage, textOf, type PageDocument, type PageElement } from './web-dom.ts';
import { removeHidden } from './web-hidden.ts';
import { toMarkdown } from './web-markdown.ts';
import { visibleText } from './web-text.ts';

export interface ReadablePage {
  readonly title: string;
  readonly markdown: string;
  /** The number of characters that the page hides from people, which are left out. */
  readonly hiddenChars: number;
}

/** An article shorter than this, and a smaller share of its page, counts as a wrong guess; a page this short needs no search. */
const ARTICLE_CHARS_MIN = 500;
const ARTICLE_SHARE_MIN = 0.3;
/** The search for the article takes time quadratic in the depth. */
const ARTICLE_DEPTH_MAX = 120;
/** The conversion to Markdown is recursive. */
const MARKDOWN_DEPTH_MAX = 500;
const TITLE_CHARS_MAX = 300;

export function readPage(html: string, url: string): ReadablePage {
  const page = openPage(html, url);
  const title = visibleText(page.title).replaceAll(/\s+/g, ' ').trim().slice(0, TITLE_CHARS_MAX);
  const hiddenChars = removeHidden(page);
  const { body } = page;
  const markdown = body === null ? '' : readBody(page, body, baseOf(page, url));
  return { title, markdown: visibleText(markdown), hiddenChars };
}

function readBody(page: PageDocument, body: PageElement, base: string): string {
  const depth = depthOf(body);
  if (depth > MARKDOWN_DEPTH_MAX)
    return textOf(body, '\n')
      .replaceAll(/\s*\n\s*/g, '\n')
      .trim();
  const whole = plainLength(body);
  const asItIs = toMarkdown(body, base);
  const article = whole < ARTICLE_CHARS_MIN || depth > ARTICLE_DEPTH_MAX ? null : readArticle(page);
  const isArticle = article !== null && (article.length >= ARTICLE_CHARS_MIN || article.length >= whole * ARTICLE_SHARE_MIN);
  return isArticle ? toMarkdown(article.element, base) : asItIs;
}

/** Counts only up to the relevant limit. */
function depthOf(body: PageElement): number {
  let depth = 0;
  for (let level = [...body.children]; level.length > 0 && depth <= MARKDOWN_DEPTH_MAX; depth++) {
    level = level.flatMap((element) => [...element.children]);
  }
  return depth;
}

/** The library's types expect a browser's document, but it uses only what ours provides. */
const PageReader = Readability as unknown as new (
  page: PageDocument,
  options: { charThreshold: number; disableJSONLD: boolean; serializer: (node: PageElement) => PageElement },
) => Readability<PageElement>;

/** Modifies the page. */
function readArticle(page: PageDocument): { element: PageElement; length: number } | null {
  const reader = new PageReader(page, {
    charThreshold: 200,
    disableJSONLD: true,
    serializer: (node) => node,
  });
  const article = reader.parse();
  return article?.content ? { element: article.content, length: plainLength(article.content) } : null;
}

function plainLength(element: PageElement): number {
  return (element.textContent ?? '').replaceAll(/\s+/g, ' ').trim().length;
}
