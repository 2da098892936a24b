// Extracts the readable text of a page as Markdown, and all text of a mail or a chapter. Pure text processing; runs in a separate thread,
// because a malicious page may take long.

import { Readability } from '@mozilla/readability';
import Turndown from 'turndown';
import { absoluteLink, baseOf, openPage, type PageDocument, type PageElement, textOf } from './web-dom.ts';
import { removeHidden } from './web-hidden.ts';
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
/** A base with which no relative link has a target. */
const NOWHERE = 'about:blank';
/** The parser takes time quadratic in the depth. */
const NESTED_MAX = 1_000;
const TITLE_CHARS_MAX = 300;

export function readPage(html: string, url: string): ReadablePage {
  const page = openPage(html, url);
  const title = visibleText(page.title).replaceAll(/\s+/g, ' ').trim().slice(0, TITLE_CHARS_MAX);
  const hiddenChars = removeHidden(page);
  const { body } = page;
  const markdown = body === null ? '' : readBody(page, body, baseOf(page, url));
  return { title, markdown: visibleText(markdown), hiddenChars };
}

/**
 * All text of a mail or of a book's chapter, as it was written: no sign is escaped, nothing is emphasized. `readSheet` returns the text of a
 * style sheet by its relative link. Fails for a page that is nested too deep to be read.
 */
export function readWhole(html: string, readSheet = (_href: string): string => ''): string {
  if (isNested(html)) throw new RangeError('the page is nested too deep');
  const page = openPage(html, NOWHERE);
  const sheets = page.querySelectorAll('link[rel="stylesheet"][href]').map((link) => readSheet(link.getAttribute('href') ?? ''));
  removeHidden(page, sheets.join('\n'));
  const { body } = page;
  if (body === null) return '';
  const text = depthOf(body) > MARKDOWN_DEPTH_MAX ? plainLines(body) : toMarkdown(body, NOWHERE, createPlainTurndown());
  return visibleText(text).replaceAll(/\u00A0[\u00A0 ]*/g, ' ');
}

/** Elements that have no end tag, or need none: the next one of their kind ends them. */
const unended = 'area|base|br|col|dd|dt|hr|img|input|li|link|meta|option|p|source|tbody|td|tfoot|th|thead|tr|wbr';
const nestingTag = new RegExp(`<(/?)(?!(?:${unended})\\b)([a-z][\\w:-]{0,40})`, 'gi');

/** Counts by name: an end tag without a start would hide the depth. */
function isNested(html: string): boolean {
  const open = new Map<string, number>();
  let depth = 0;
  for (const [, end, name = ''] of html.matchAll(nestingTag)) {
    const tag = name.toLowerCase();
    const count = open.get(tag) ?? 0;
    if (end !== '' && count === 0) continue;
    const step = end === '' ? 1 : -1;
    open.set(tag, count + step);
    depth += step;
    if (depth > NESTED_MAX) return true;
  }
  return false;
}

function plainLines(body: PageElement): string {
  return textOf(body, '\n')
    .replaceAll(/\s*\n\s*/g, '\n')
    .trim();
}

function readBody(page: PageDocument, body: PageElement, base: string): string {
  const depth = depthOf(body);
  if (depth > MARKDOWN_DEPTH_MAX) return plainLines(body);
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

// Converts a page's elements to Markdown: absolute links, tables, pictures by their description. Writes no picture addresses, so that
// nothing is loaded where the text is shown.

/** Changes `root`: its links become absolute, and links to anything but the web become text. */
function toMarkdown(root: PageElement, base: string, turndown = createTurndown()): string {
  for (const link of root.querySelectorAll('a[href]')) {
    const href = absoluteLink(link.getAttribute('href') ?? '', base);
    if (href === null) link.removeAttribute('href');
    else link.setAttribute('href', href);
    link.removeAttribute('title');
  }
  return turndown
    .turndown(root)
    .replaceAll(/[ \t]+$/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

function createTurndown(): Turndown {
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', emDelimiter: '*' });
  turndown.addRule('picture', {
    filter: 'img',
    replacement: (_content, node) => {
      const alt = ((node as unknown as PageElement).getAttribute('alt') ?? '').replaceAll(/[[\]()\\<>`\s]+/g, ' ').trim();
      return alt === '' ? '' : `[image: ${alt.slice(0, 200)}]`;
    },
  });
  turndown.addRule('item', {
    filter: 'li',
    replacement: (content, node) => {
      const item = node as unknown as PageElement;
      const mark = markOf(item);
      const text = content.trim().replaceAll('\n', `\n${' '.repeat(mark.length)}`);
      return `${mark}${text}${item.nextSibling === null ? '' : '\n'}`;
    },
  });
  turndown.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content) =>
      ` ${content
        .trim()
        .replaceAll(/\s*\n\s*/g, ' ')
        .replaceAll('|', '\\|')} |`,
  });
  turndown.addRule('row', {
    filter: 'tr',
    replacement: (content, node) => (content.trim() === '' ? '' : `\n|${content}${underline(node)}`),
  });
  turndown.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.replaceAll(/\n+/g, '\n').trim()}\n\n` });
  return turndown;
}

function createPlainTurndown(): Turndown {
  const turndown = createTurndown();
  turndown.escape = (text) => text;
  turndown.addRule('paragraph of an item', {
    filter: (node) => node.nodeName === 'P' && node.parentNode?.nodeName === 'LI' && node.previousSibling === null,
    replacement: (content) => content,
  });
  turndown.addRule('emphasis', { filter: ['b', 'strong', 'i', 'em'], replacement: (content) => content });
  // Mail programs make a link of every address that a person writes.
  const bare = (address: string): string => address.trim().replaceAll(/^(?:https?:\/\/|mailto:)|\/$/g, '');
  turndown.addRule('address', {
    filter: (node) => node.nodeName === 'A' && bare(node.getAttribute('href') ?? '') === bare(node.textContent ?? ''),
    replacement: (content) => content,
  });
  return turndown;
}

function markOf(item: PageElement): string {
  const list = item.parentNode as PageElement | null;
  if (list?.tagName !== 'OL') return '- ';
  const start = Number.parseInt(list.getAttribute('start') ?? '', 10);
  const index = [...list.children].indexOf(item);
  return `${(Number.isSafeInteger(start) ? start : 1) + index}. `;
}

/** The first row of a table becomes its header, because Markdown has no table without one. */
function underline(row: PageElement): string {
  let table = row.parentNode as PageElement | null;
  while (table !== null && table.tagName !== 'TABLE') table = table.parentNode as PageElement | null;
  if (table?.querySelector('tr') !== row) return '';
  return `\n|${' --- |'.repeat(row.children.length)}`;
}
