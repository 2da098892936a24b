// The pages that the window may embed: they draw diagrams from untrusted text, show untrusted HTML and draw untrusted PDF files. Each runs
// only its built-in scripts, has a separate origin, loads nothing, and can be embedded only in our page.

import { createHash } from 'node:crypto';
import { readAsset, type Asset } from './assets.ts';

export const framedPaths: ReadonlySet<string> = new Set(['/diagram.html', '/page.html', '/pdf.html']);
const ownScripts = /<script(?: type="module")?>([\s\S]*?)<\/script>/g;
const libraryUser = '/pdf.html';
const libraryMark = '/* pdfjs.js */';

type Headers = Readonly<Record<string, string>>;

/** Caches the headers of each page, because computing them reads megabytes twice and every diagram requests the same page. */
export class FramedPages {
  readonly #known = new Map<string, { readonly page: Buffer; readonly headers: Headers }>();

  /** The file for a request path, with the headers that replace the window's. Null if there is no such file. */
  async read(folder: string, path: string): Promise<(Asset & { readonly headers: Headers }) | null> {
    const asset = await readAsset(folder, path);
    if (asset === null) return null;
    const bytes = path === libraryUser ? await withLibrary(folder, asset.bytes) : asset.bytes;
    const headers = this.headersOf(path, bytes);
    // The cached buffer of an unchanged page, because compressed forms are cached by buffer.
    return { mediaType: asset.mediaType, bytes: this.#known.get(path)?.page ?? bytes, headers };
  }

  /**
   * The headers that replace the window's for an embedded page; empty for any other page. They depend on the content, so a rebuilt page
   * gets new headers.
   */
  headersOf(path: string, page: Buffer): Headers {
    if (!framedPaths.has(path)) return {};
    const known = this.#known.get(path);
    if (known?.page.equals(page) === true) return known.headers;
    const headers = framedHeaders(page);
    this.#known.set(path, { page, headers });
    return headers;
  }
}

/** Inserts the library of the PDF page, which is a separate file because Node also uses it to read documents. */
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
    // Applies even if the window's frame does not set `sandbox`.
    'sandbox allow-scripts',
  ];
  return { 'content-security-policy': policy.join('; '), 'x-frame-options': 'SAMEORIGIN', 'x-dns-prefetch-control': 'off' };
}

function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('base64');
}
