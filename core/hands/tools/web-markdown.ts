// Converts a page's elements to Markdown: absolute links, tables, pictures by their description. Writes no picture addresses, so that
// nothing is loaded where the text is shown.

import Turndown from 'turndown';
import { absoluteLink, type PageElement } from './web-dom.ts';

/** Changes `root`: its links become absolute, and links to anything but the web become text. */
export function toMarkdown(root: PageElement, base: string): string {
  for (const link of root.querySelectorAll('a[href]')) {
    const href = absoluteLink(link.getAttribute('href') ?? '', base);
    if (href === null) link.removeAttribute('href');
    else link.setAttribute('href', href);
    link.removeAttribute('title');
  }
  const text = createTurndown().turndown(root);
  return text
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
