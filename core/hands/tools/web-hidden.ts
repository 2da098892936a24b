// Removes the parts of a page that a person would not see: scripts, comments, and text hidden by attributes or by the page's own styles.
// Instructions for machines are often placed in hidden text.

import { COMMENT_NODE, ELEMENT_NODE, textOf, type PageDocument, type PageElement, type PageNode } from './web-dom.ts';

const neverShown =
  'script,style,noscript,template,iframe,frame,object,embed,applet,svg,canvas,audio,video,input,select,textarea,datalist,link,meta,map';
const markedHidden = '[hidden],[aria-hidden="true"],[inert],dialog:not([open])';
const RULES_MAX = 300;
const CSS_LENGTH_MAX = 1_000_000;

/** Returns the number of characters of hidden text. Scripts and the like are not counted. `sheets` are styles outside of the page. */
export function removeHidden(page: PageDocument, sheets = ''): number {
  const selectors = hidingSelectors(page, sheets);
  const root = page.documentElement;
  removeAll(page.querySelectorAll(neverShown));
  removeComments(root);
  unwrapMisnamed(page);
  let hidden = removeAll(page.querySelectorAll(markedHidden));
  hidden += removeAll(page.querySelectorAll('[style]').filter((element) => hides(element.getAttribute('style') ?? '')));
  for (const selector of selectors) hidden += removeAll(matching(page, selector));
  return hidden;
}

function removeAll(elements: readonly PageElement[]): number {
  let removed = 0;
  for (const element of elements) {
    if (element.parentNode === null || /^(?:HTML|HEAD|BODY)$/.test(element.tagName)) continue;
    removed += textOf(element, '').trim().length;
    element.parentNode.removeChild(element);
  }
  return removed;
}

/** A tag such as `<a<b>` makes an element that can be parsed but never copied; only its content is kept. */
function unwrapMisnamed(page: PageDocument): void {
  for (const element of page.querySelectorAll('*')) {
    const parent = element.parentNode;
    if (parent === null || /^[\w.:-]+$/.test(element.tagName)) continue;
    for (let child = element.firstChild; child !== null; child = element.firstChild) parent.insertBefore(child, element);
    parent.removeChild(element);
  }
}

/** Without recursion: a page may be nested deeper than the stack. */
function removeComments(root: PageNode): void {
  const open: PageNode[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (let child = node.firstChild; child !== null;) {
      const next = child.nextSibling;
      if (child.nodeType === COMMENT_NODE) node.removeChild(child);
      else if (child.nodeType === ELEMENT_NODE) open.push(child);
      child = next;
    }
  }
}

/** Selectors of plain rules in the page's style sheets that hide the elements they match. Rules for print or small screens do not count. */
function hidingSelectors(page: PageDocument, sheets: string): string[] {
  const css = [sheets, ...page.querySelectorAll('style').map((style) => style.textContent ?? '')].join('\n');
  const found: string[] = [];
  for (const { selector, body } of plainRules(css.slice(0, CSS_LENGTH_MAX))) {
    if (hides(body) && found.length < RULES_MAX) found.push(selector);
  }
  return found;
}

function* plainRules(css: string): Generator<{ selector: string; body: string }> {
  let at = 0;
  while (at < css.length) {
    const open = css.indexOf('{', at);
    if (open < 0) return;
    const selector = css
      .slice(at, open)
      .replaceAll(/\/\*[\s\S]*?\*\//g, '')
      .trim();
    const close = selector.startsWith('@') ? endOfBlock(css, open) : css.indexOf('}', open);
    if (close < 0) return;
    if (!selector.startsWith('@')) yield { selector, body: css.slice(open + 1, close) };
    at = close + 1;
  }
}

function endOfBlock(css: string, open: number): number {
  let depth = 0;
  for (let at = open; at < css.length; at++) {
    if (css[at] === '{') depth += 1;
    else if (css[at] === '}' && --depth === 0) return at;
  }
  return -1;
}

function matching(page: PageDocument, selector: string): readonly PageElement[] {
  try {
    return page.querySelectorAll(selector);
  } catch (cause) {
    // For an invalid or unsupported selector it is unknown what it hides.
    void cause;
    return [];
  }
}

const hiding: readonly RegExp[] = [
  /(?:^|;)\s*display\s*:\s*none/i,
  /(?:^|;)\s*visibility\s*:\s*(?:hidden|collapse)/i,
  /(?:^|;)\s*opacity\s*:\s*0?\.?0*\s*(?:!|;|$)/i,
  /(?:^|;)\s*font-size\s*:\s*(?:0|[012](?:\.\d+)?px)\s*(?:[a-z%]*)\s*(?:!|;|$)/i,
  /(?:^|;)\s*color\s*:\s*transparent/i,
  /(?:^|;)\s*(?:left|top|right|bottom|text-indent|margin-left|margin-top)\s*:\s*-\d{3,}/i,
  /(?:^|;)\s*clip\s*:\s*rect\(\s*[01]/i,
  /(?:^|;)\s*clip-path\s*:\s*(?:inset\(\s*(?:50|100)%|circle\(\s*0)/i,
  /(?:^|;)\s*transform\s*:[^;]*scale\(\s*0\s*\)/i,
];

function hides(declarations: string): boolean {
  const text = declarations.slice(0, 2_000);
  return hiding.some((pattern) => pattern.test(text)) || hidesBySize(text) || hidesByColour(text);
}

function hidesBySize(text: string): boolean {
  return /(?:^|;)\s*overflow\s*:\s*hidden/i.test(text) && /(?:^|;)\s*(?:max-)?(?:height|width)\s*:\s*[01](?:px)?\s*(?:!|;|$)/i.test(text);
}

/** Returns whether the text has the same colour as its background. */
function hidesByColour(text: string): boolean {
  const colour = /(?:^|;)\s*color\s*:\s*([^;!]+)/i.exec(text)?.[1]?.trim().toLowerCase();
  const ground = /(?:^|;)\s*background(?:-color)?\s*:\s*([^;!]+)/i.exec(text)?.[1]?.trim().toLowerCase();
  return colour !== undefined && colour === ground;
}
