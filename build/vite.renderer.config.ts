// Builds the window: one HTML file and its assets with relative addresses, so that the loopback host and the desktop shell can both serve it.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';

const windowPart = 'window';
const turnsPart = 'turns';
const firstVisit = ['first', windowPart, turnsPart];

const root = fileURLToPath(new URL('../renderer', import.meta.url));

/** The schema library generates functions from text, which the content policy forbids, and is a third of the code of a first paint. */
const withoutSchemas: Plugin = {
  name: 'window-without-schemas',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type !== 'chunk' || !file.moduleIds.some((id) => id.includes('/node_modules/zod/'))) continue;
      const schemas = file.moduleIds.filter((id) => id.includes('/core/contracts/')).map((id) => id.slice(id.indexOf('core/contracts/')));
      this.error(`The window must not carry schemas; one of these is imported for more than its types: ${schemas.join(', ')}`);
    }
  },
};

/** The grammars embedded in a Ruby here-document are eleven more, a megabyte in all: it stays plain. */
const rubyAlone: Plugin = {
  name: 'ruby-alone',
  enforce: 'pre',
  resolveId: (source, importer) => (importer?.endsWith('/langs/dist/ruby.mjs') === true && source.startsWith('./') ? '\0no-grammar' : null),
  load: (id) => (id === '\0no-grammar' ? 'export default [];' : null),
};

/** The grammar of TSX covers JavaScript as well, and is generated from the same source: it is there once. */
const javascriptAsTsx: Plugin = {
  name: 'javascript-as-tsx',
  enforce: 'pre',
  load: (id) =>
    id.endsWith('/@shikijs/langs/dist/javascript.mjs')
      ? "import tsx from './tsx.mjs';\nexport default tsx.map((one) => ({ ...one, name: 'javascript', scopeName: 'source.js', aliases: ['js', 'cjs', 'mjs'] }));"
      : null,
};

/** The window's own script is imported by the first one; the page names it and its styles, so that a browser loads all of it at once. */
const wholePage: Plugin = {
  name: 'whole-page',
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle = {} }) {
      const part = Object.values(bundle).find((file) => file.type === 'chunk' && file.name === windowPart);
      if (part?.type !== 'chunk') throw new Error('The build made no chunk for the window.');
      const styles = [...(part.viteMetadata?.importedCss ?? [])];
      return [
        ...[part.fileName, ...part.imports.filter((name) => !html.includes(name))].map((name) => ({
          tag: 'link',
          attrs: { rel: 'modulepreload', crossorigin: true, href: `./${name}` },
        })),
        ...styles.map((href) => ({ tag: 'link', attrs: { rel: 'stylesheet', crossorigin: true, href: `./${href}` } })),
      ];
    },
  },
};

/** Packs the files of a first visit once, a tenth smaller than the server can in passing. */
const packed: Plugin = {
  name: 'packed',
  async writeBundle({ dir = '' }, bundle) {
    const parts = Object.values(bundle).filter((file) => file.type === 'chunk' && firstVisit.includes(file.name));
    const names = parts.flatMap((file) => [file.fileName, ...(file.type === 'chunk' ? (file.viteMetadata?.importedCss ?? []) : [])]);
    await Promise.all(
      names.map(async (name) => writeFile(join(dir, `${name}.br`), await promisify(brotliCompress)(await readFile(join(dir, name))))),
    );
  },
};

// Vite reads its configuration from a default export.
export default defineConfig({
  root,
  base: './',
  publicDir: 'public',
  plugins: [withoutSchemas, wholePage, packed, svelte({ configFile: false, compilerOptions: { runes: true } })],
  // As modules, so that each grammar of the code worker is a separate file.
  worker: { format: 'es', plugins: () => [rubyAlone, javascriptAsTsx] },
  build: {
    outDir: fileURLToPath(new URL('../dist/renderer', import.meta.url)),
    emptyOutDir: true,
    target: ['chrome130', 'firefox130', 'safari18'],
    // Inlined assets would need data: in more places of the content policy than we allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Each with all it needs: many small files cost a slow line more than a few bytes too many.
          groups: [
            { name: 'first', test: /renderer\/lib\/(?:first-client|bridge)\.ts$|preload-helper|rolldown\/runtime/, priority: 3 },
            { name: windowPart, test: /renderer\/open-window\.ts$/, priority: 2 },
            { name: turnsPart, test: /renderer\/(?:views\/chat\/turn-list\.svelte|lib\/i18n\/english\/talk\.ts)$/, priority: 1 },
          ],
        },
      },
    },
  },
});
