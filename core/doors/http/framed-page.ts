// The one page that the window may show inside itself: it draws diagrams from texts nobody vouches for. It runs the scripts it was built
// with and no other, has an origin of its own, loads nothing, and stands in no other page than ours.

import { createHash } from 'node:crypto';

export const framedPath = '/diagram.html';
const ownScripts = /<script>([\s\S]*?)<\/script>/g;

/** What takes the place of the window's own headers, for this page as it is sent. */
export function framedHeaders(page: Buffer): Readonly<Record<string, string>> {
  const scripts = [...page.toString('utf8').matchAll(ownScripts)].map(([, code = '']) => `'sha256-${hashOf(code)}'`);
  const policy = [
    "default-src 'none'",
    `script-src ${scripts.join(' ') || "'none'"}`,
    // Drawings are full of styles of their own.
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
