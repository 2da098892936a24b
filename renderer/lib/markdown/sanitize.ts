// Turns one markdown block into inert HTML: raw HTML becomes visible text, images become links, and an allowlist filters the result. This
// and formulas.ts are the only places that produce markup for {@html}; keep them small enough to review at a glance.

import type { DOMPurify } from 'dompurify';
import { Parser, Renderer, type Token, type Tokens } from 'marked';
import type { Words } from '../i18n/words.ts';

const allowedTags = 'p br hr strong em del code pre ul ol li blockquote h2 a span sup table thead tbody tr th td'.split(' ');

const allowed = {
  ALLOWED_TAGS: allowedTags,
  ALLOWED_ATTR: ['href', 'title', 'class', 'align', 'start'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:)/i,
  // The pattern above applies to every attribute except those known to hold no address.
  ADD_URI_SAFE_ATTR: ['align', 'start'],
  // If the host's policy demands trusted types, this is their only source besides the framework's own templates.
  RETURN_TRUSTED_TYPE: true as const,
};

/** Sanitised markup: a TrustedHTML where the browser has such a thing, else a string. */
export interface SafeMarkup {
  toString(): string;
}

const ownClass = /^(?:depth-[1-6]|image-link|link-host|task|formula|footnote)$/;

/** The text that replaces an image, in the person's language. */
export type ImageWords = Pick<Words['chat']['document'], 'image' | 'notLoaded' | 'notLoadedFrom'>;

export interface BlockSanitizer {
  toHtml(token: Token): SafeMarkup;
}

/** `null` for a link that must not be one. Only absolute http, https and mailto addresses pass. */
export function safeHref(href: string): string | null {
  if (!/^(?:https?:\/\/|mailto:)/i.test(href)) return null;
  if (!URL.canParse(href)) return null;
  const url = new URL(href);
  return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null;
}

/** Sets its rules for links and classes on the purifier, which must not be given others. */
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
  // Until the library is there, and where it refuses, a formula is its source.
  const extensions = {
    renderers: {
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

/** In its ASCII form, so that letters of other scripts cannot imitate another host. */
function hostOf(href: string): string {
  const { host, protocol, pathname } = new URL(href);
  return protocol === 'mailto:' ? decodeAddress(pathname) : host;
}

function decodeAddress(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function createRenderer(words: () => ImageWords): Renderer {
  const renderer = new Renderer();
  renderer.html = ({ text }) => escapeHtml(text);
  renderer.heading = function ({ tokens, depth }: Tokens.Heading) {
    // One heading level, styled by depth: an answer's own outline never breaks the outline of the page.
    return `<h2 class="depth-${depth}">${this.parser.parseInline(tokens)}</h2>`;
  };
  renderer.link = function ({ href, tokens, text }: Tokens.Link) {
    const inner = this.parser.parseInline(tokens);
    const target = safeHref(href);
    if (target === null) return inner;
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
  renderer.code = ({ text }) => `<pre><code>${escapeHtml(text)}</code></pre>`;
  return renderer;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => entities[char] ?? '');
}
