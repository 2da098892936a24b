// The one page that the window may embed: it draws diagrams from untrusted text. It runs only its built-in scripts, has a separate origin,
// loads nothing, and can be embedded only in our page.

import { createHash } from 'node:crypto';

export const framedPath = '/diagram.html';
const ownScripts = /<script>([\s\S]*?)<\/script>/g;

/** The headers of this page, instead of the window's. */
export function framedHeaders(page: Buffer): Readonly<Record<string, string>> {
  const scripts = [...page.toString('utf8').matchAll(ownScripts)].map(([, code = '']) => `'sha256-${hashOf(code)}'`);
  const policy = [
    "default-src 'none'",
    `script-src ${scripts.join(' ') || "'none'"}`,
    // Drawings contain many inline styles.
    "style-src 'unsafe-inline'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    // Also where the window's own frame were not to ask for it.
    'sandbox allow-scripts',
  ];
  return { 'content-security-policy': policy.join('; '), 'x-frame-options': 'SAMEORIGIN', 'x-dns-prefetch-control': 'off' };
}

function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('base64');
}
