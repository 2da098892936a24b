// The pages that the window may embed run only their own scripts, whatever content is put into them later.

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FramedPages } from './framed-page.ts';

const path = '/page.html';
const policyOf = (page: string): string[] =>
  (new FramedPages().headersOf(path, Buffer.from(page))['content-security-policy'] ?? '').split('; ');

test('pins the policy: only the built-in scripts, styles, and nothing external', () => {
  // SHA-256 of `one()` and `two("ü")`, in the format of the policy.
  expect(policyOf('<!doctype html>\n<script>one()</script>\n<script>two("ü")</script>')).toEqual([
    "default-src 'none'",
    "script-src 'sha256-HR7iaask9daLMRRskMI++QeJtjWDOjyPA6lGzYGzKW4=' 'sha256-J6NxKRP9T54TAD0iyg4m8BX+tOgGquthVDTOg83YbCI='",
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-scripts',
  ]);
});

test('a page without scripts may run none', () => {
  expect(policyOf('<p>nothing')).toContain("script-src 'none'");
});

test('caches the headers of a page, and another page gets its own scripts', () => {
  const framed = new FramedPages();
  const [one, two] = ['<script>one()</script>', '<script>two()</script>'];
  const first = framed.headersOf(path, Buffer.from(one));
  expect(framed.headersOf('/index.html', Buffer.from(one))).toEqual({});
  expect(framed.headersOf(path, Buffer.from(one))).toBe(first);
  for (const page of [two, one, two])
    expect(framed.headersOf(path, Buffer.from(page))['content-security-policy']).toBe(policyOf(page).join('; '));
});

test('inserts the library into the PDF page and adds it to its policy', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-framed-'));
  try {
    writeFileSync(join(folder, 'pdf.html'), '<script type="module">\n/* pdfjs.js */\ndraw();</script>');
    writeFileSync(join(folder, 'pdfjs.js'), 'const draw = () => "$&";');
    const page = await new FramedPages().read(folder, '/pdf.html');
    const script = '\nconst draw = () => "$&";\ndraw();';
    expect(page?.bytes.toString()).toBe(`<script type="module">${script}</script>`);
    expect(page?.headers['content-security-policy']).toContain(
      `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
    );
    expect(await new FramedPages().read(folder, '/other.html')).toBe(null);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
