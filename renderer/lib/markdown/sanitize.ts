// Turns one markdown block into inert HTML: raw HTML becomes visible text except for a few tags without attributes, images become links,
// and an allowlist filters the result. This and formulas.ts are the only places that produce markup for {@html}; keep them small enough to
// review at a glance.

import type { DOMPurify } from 'dompurify';
import { Parser, Renderer, type Token, type Tokens } from 'marked';
import { decodeComponent } from '../../../core/base/decode-component.ts';
import type { Words } from '../i18n/words.ts';

const allowedTags = 'p br hr strong em del code pre ul ol li blockquote h2 a span sup sub kbd table thead tbody tr th td'.split(' ');
/** Models often write these tags within a line; they are accepted only without attributes. */
const plainTag = /^<(?:br ?\/?|\/?(?:sub|sup|kbd))>$/i;
/** No scheme, no host, no place in a page. */
const relativePath = /^(?![\\/]{2}|#|[a-z][a-z0-9+.-]*:)[^?#]+$/i;
const alertHead = /^\[!(note|tip|important|warning|caution)\][ \t]*(?:\n|$)/i;

const allowed = {
  ALLOWED_TAGS: allowedTags,
  ALLOWED_ATTR: ['href', 'title', 'class', 'align', 'start', 'dir'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:)/i,
  // The pattern above applies to every attribute except those known to contain no address.
  ADD_URI_SAFE_ATTR: ['align', 'start', 'dir'],
  // If the host's policy requires trusted types, only this file and the framework's own templates create them.
  RETURN_TRUSTED_TYPE: true as const,
};

/** Sanitised markup: a TrustedHTML if the browser supports it, else a string. */
export interface SafeMarkup {
  toString(): string;
}

/** The most characters of a table cell that is not broken into lines. */
const shortCell = 16;
const ownClass =
  /^(?:depth-[1-6]|image-link|link-host|task|nowrap|formula|footnote|file|alert|alert-(?:note|tip|important|warning|caution))$/;

/** The text that replaces an image, and the titles of alerts, in the person's language. */
export type ImageWords = Pick<Words['chat']['document'], 'alerts' | 'image' | 'notLoaded' | 'notLoadedFrom'>;

export interface BlockSanitizer {
  toHtml(token: Token): SafeMarkup;
}

/** Returns null for an address that must not become a link. Only absolute http, https and mailto addresses pass. */
export function safeHref(href: string): string | null {
  if (!/^(?:https?:\/\/|mailto:)/i.test(href)) return null;
  if (!URL.canParse(href)) return null;
  const url = new URL(href);
  return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null;
}

/** Adds its rules for links and classes to the purifier, which must not have other rules. */
export function createBlockSanitizer(purify: DOMPurify, words: () => ImageWords): BlockSanitizer {
  purify.addHook('afterSanitizeAttributes', (node) => {
    const className = node.getAttribute('class');
    if (className !== null && !ownClass.test(className)) node.removeAttribute('class');
    if (node.tagName !== 'A') return;
    const href = safeHref(node.getAttribute('href') ?? '');
    if (href === null) node.removeAttribute('href');
    else {
      node.setAttribute('href', href);
      node.setAttribute('title', href);
      node.setAttribute('target', '_blank');
      node.setAttribute('rel', 'noopener noreferrer');
    }
  });
  const renderer = createRenderer(words);
  // Until the library is loaded, or if it rejects the formula, its source is shown.
  const extensions = {
    renderers: {
      // Within a list or a quote, its source is shown.
      details: ({ raw }: Tokens.Generic) => `<p>${escapeHtml(raw)}</p>`,
      formula: ({ text }: Tokens.Generic) => `<span class="formula">${escapeHtml(String(text))}</span>`,
      footnoteMark: ({ mark }: Tokens.Generic) => `<sup>${escapeHtml(String(mark))}</sup>`,
      footnote(this: { readonly parser: Parser }, { mark, tokens = [] }: Tokens.Generic) {
        return `<p class="footnote"><sup>${escapeHtml(String(mark))}</sup> ${this.parser.parseInline(tokens)}</p>`;
      },
    },
    childTokens: {},
  };
  return { toHtml: (token) => purify.sanitize(Parser.parse([token], { renderer, gfm: true, extensions }), allowed) };
}

/** The host in ASCII form, so that letters of other scripts cannot imitate another host. */
function hostOf(href: string): string {
  const { host, protocol, pathname } = new URL(href);
  return protocol === 'mailto:' ? decodeComponent(pathname) : host;
}

function createRenderer(words: () => ImageWords): Renderer {
  const renderer = new Renderer();
  renderer.html = ({ text }) => (plainTag.test(text) ? text : escapeHtml(text));
  renderer.blockquote = function ({ tokens }: Tokens.Blockquote) {
    const alert = readAlert(tokens);
    if (alert === null) return `<blockquote>${this.parser.parse(tokens)}</blockquote>`;
    const { kind, rest } = alert;
    return `<blockquote class="alert-${kind}"><p class="alert">${words().alerts[kind]}</p>${this.parser.parse(rest)}</blockquote>`;
  };
  renderer.heading = function ({ tokens, depth }: Tokens.Heading) {
    // All headings have the same level, styled by depth, so that an answer's outline does not break the outline of the page.
    return `<h2 class="depth-${depth}">${this.parser.parseInline(tokens)}</h2>`;
  };
  renderer.tablecell = function (cell: Tokens.TableCell) {
    const html = Renderer.prototype.tablecell.call(this, cell);
    // A date or an amount stays on one line; the table scrolls instead.
    return cell.header || cell.text.length > shortCell ? html : html.replace('<td', '<td class="nowrap"');
  };
  renderer.link = function ({ href, tokens, text }: Tokens.Link) {
    const inner = this.parser.parseInline(tokens);
    const target = safeHref(href);
    // A relative address can only mean a file: its name is kept, and it opens if the window knows the file (file-links.ts).
    if (target === null)
      return relativePath.test(href) ? `<span class="file" title="${escapeHtml(decodeComponent(href))}">${inner}</span>` : inner;
    const host = hostOf(target);
    // If the link's text does not name its host, the host is shown after it.
    const beside = host === '' || text.includes(host) ? '' : ` <span class="link-host">${escapeHtml(host)}</span>`;
    return `<a href="${escapeHtml(target)}">${inner}</a>${beside}`;
  };
  renderer.image = ({ href, text }) => {
    const target = safeHref(href);
    const { image, notLoaded, notLoadedFrom } = words();
    const name = image(text);
    if (target === null) return `<span class="image-link">${escapeHtml(notLoaded(name))}</span>`;
    return `<a class="image-link" href="${escapeHtml(target)}">${escapeHtml(notLoadedFrom(name, hostOf(target)))}</a>`;
  };
  renderer.checkbox = ({ checked }) => `<span class="task">${checked ? '☑' : '☐'}</span> `;
  // Code is read from the left within every language, and says nothing about the direction of its paragraph.
  renderer.codespan = ({ text }) => `<code dir="ltr">${escapeHtml(text)}</code>`;
  renderer.code = ({ text }) => `<pre dir="ltr"><code>${escapeHtml(text)}</code></pre>`;
  return renderer;
}

type AlertKind = keyof ImageWords['alerts'];

/** The kind of alert that the first line of a quote names, and the quote without that line. */
function readAlert(tokens: readonly Token[]): { kind: AlertKind; rest: Token[] } | null {
  const [paragraph, ...others] = tokens;
  if (paragraph?.type !== 'paragraph') return null;
  const [first, ...inline] = paragraph.tokens ?? [];
  if (first?.type !== 'text') return null;
  const { text } = first as Tokens.Text;
  const [head = '', kind = ''] = alertHead.exec(text) ?? [];
  if (head === '') return null;
  const without = { ...first, text: text.slice(head.length) } as Token;
  return { kind: kind.toLowerCase() as AlertKind, rest: [{ ...paragraph, tokens: [without, ...inline] }, ...others] };
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => entities[char] ?? '');
}
