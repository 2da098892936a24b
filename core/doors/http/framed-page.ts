// The pages that the window may embed: they draw diagrams from untrusted text, show untrusted HTML and draw untrusted PDF files. Each runs
// only its built-in scripts, has a separate origin, loads nothing, and can be embedded only in our page.

import { createHash } from 'node:crypto';
import { readAsset, type Asset } from './assets.ts';

export const framedPaths: ReadonlySet<string> = new Set(['/diagram.html', '/page.html', '/pdf.html']);
const ownScripts = /<script(?: type="module")?>([\s\S]*?)<\/script>/g;
const libraryUser = '/pdf.html';
const libraryMark = '/* pdfjs.js */';

type Headers = Readonly<Record<string, string>>;

/** Keeps the headers of each page: making them reads megabytes twice, and every diagram asks for the same page. */
export class FramedPages {
  readonly #known = new Map<string, { readonly page: Buffer; readonly headers: Headers }>();

  /** The file behind a request path with its headers, those of the window excepted. Null when there is none. */
  async read(folder: string, path: string): Promise<(Asset & { readonly headers: Headers }) | null> {
    const asset = await readAsset(folder, path);
    if (asset === null) return null;
    const bytes = path === libraryUser ? await withLibrary(folder, asset.bytes) : asset.bytes;
    const headers = this.headersOf(path, bytes);
    // The kept buffer of an unchanged page: by it the packed form is known.
    return { mediaType: asset.mediaType, bytes: this.#known.get(path)?.page ?? bytes, headers };
  }

  /** The headers of this page, instead of the window's; none for any other. They depend on what is in it: a rebuilt page gets its own. */
  headersOf(path: string, page: Buffer): Headers {
    if (!framedPaths.has(path)) return {};
    const known = this.#known.get(path);
    if (known?.page.equals(page) === true) return known.headers;
    const headers = framedHeaders(page);
    this.#known.set(path, { page, headers });
    return headers;
  }
}

/** The library of the page that draws PDF files is a separate file, because Node reads documents with it as well. */
async function withLibrary(folder: string, page: Buffer): Promise<Buffer> {
  const at = page.indexOf(libraryMark);
  const library = await readAsset(folder, '/pdfjs.js');
  if (at === -1 || library === null) return page;
  return Buffer.concat([page.subarray(0, at), library.bytes, page.subarray(at + libraryMark.length)]);
}

function framedHeaders(page: Buffer): Headers {
  const scripts = [...page.toString('utf8').matchAll(ownScripts)].map(([, code = '']) => `'sha256-${hashOf(code)}'`);
  const policy = [
    "default-src 'none'",
    `script-src ${scripts.join(' ') || "'none'"}`,
    // Drawings contain many inline styles.
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
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
