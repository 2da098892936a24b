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

/**
 * Leaves out schema compilation: the schema library generates functions from text, which the content policy forbids, and it is a third of
 * the code of the first paint.
 */
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

/** Leaves out what would take over markup that a server rendered, in every part of the library: the page starts empty. */
const withoutTakeover: Plugin = {
  name: 'without-takeover',
  transform: (code, id) => {
    if (!id.endsWith('/svelte/src/internal/client/dom/hydration.js')) return null;
    const without = code
      .replace('export let hydrating = false;', 'export const hydrating = false;')
      .replaceAll(/^\thydrating = value;$/gm, '');
    if (without === code) throw new Error('Svelte says in other words whether it takes over markup; see withoutTakeover');
    return without;
  },
};

/** Leaves out grammars embedded in Ruby here-documents, eleven files and a megabyte in all: here-documents are not highlighted. */
const rubyAlone: Plugin = {
  name: 'ruby-alone',
  enforce: 'pre',
  resolveId: (source, importer) => (importer?.endsWith('/langs/dist/ruby.mjs') === true && source.startsWith('./') ? '\0no-grammar' : null),
  load: (id) => (id === '\0no-grammar' ? 'export default [];' : null),
};

/** Uses the TSX grammar for JavaScript as well: it covers both and is generated from the same source. */
const javascriptAsTsx: Plugin = {
  name: 'javascript-as-tsx',
  enforce: 'pre',
  load: (id) =>
    id.endsWith('/@shikijs/langs/dist/javascript.mjs')
      ? "import tsx from './tsx.mjs';\nexport default tsx.map((one) => ({ ...one, name: 'javascript', scopeName: 'source.js', aliases: ['js', 'cjs', 'mjs'] }));"
      : null,
};

/**
 * The first script imports the window's own script. The page also lists that script and its styles, so that a browser loads everything at
 * once. Nothing is painted before the first script, which chooses the theme.
 */
const wholePage: Plugin = {
  name: 'whole-page',
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle = {} }) {
      const part = Object.values(bundle).find((file) => file.type === 'chunk' && file.name === windowPart);
      if (part?.type !== 'chunk') throw new Error('The build made no chunk for the window.');
      const styles = [...(part.viteMetadata?.importedCss ?? [])];
      const tags = [
        ...[part.fileName, ...part.imports.filter((name) => !html.includes(name))].map((name) => ({
          tag: 'link',
          attrs: { rel: 'modulepreload', crossorigin: true, href: `./${name}` },
        })),
        ...styles.map((href) => ({ tag: 'link', attrs: { rel: 'stylesheet', crossorigin: true, href: `./${href}` } })),
      ];
      return { html: html.replace('<script ', '<script blocking="render" '), tags };
    },
  },
};

/** Compresses the files of a first visit once; the result is a tenth smaller than what the server can produce on the fly. */
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
  plugins: [withoutSchemas, withoutTakeover, wholePage, packed, svelte({ configFile: false, compilerOptions: { runes: true } })],
  // ES modules, so that each grammar of the code worker is a separate file.
  worker: { format: 'es', plugins: () => [rubyAlone, javascriptAsTsx] },
  build: {
    outDir: fileURLToPath(new URL('../dist/renderer', import.meta.url)),
    emptyOutDir: true,
    target: ['chrome130', 'firefox130', 'safari18'],
    // Inlined assets would need data: in more places of the content policy than we allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Its report on slow plugins, on a busy machine, would look like a problem to who starts the program for the first time.
      checks: { bundlerTimings: false },
      output: {
        codeSplitting: {
          // Few larger chunks: on a slow connection, many small files cost more than a few unneeded bytes.
          groups: [
            { name: 'first', test: /renderer\/lib\/(?:first-client|bridge)\.ts$|preload-helper|rolldown\/runtime/, priority: 3 },
            { name: windowPart, test: /renderer\/open-window\.ts$/, priority: 2 },
            { name: 'commands', test: /renderer\/lib\/(?:commands\/shortcuts|i18n\/english\/commands)\.ts$/, priority: 1 },
            { name: turnsPart, test: /renderer\/(?:views\/chat\/turn-list\.svelte|lib\/i18n\/english\/talk\.ts)$/, priority: 1 },
            // Shared by the other views and panels.
            { name: 'kit', test: /renderer\/(?:kit\/.*\.svelte|lib\/(?:submits|state\/(?:first-read|each-second)\.svelte)\.ts)$/ },
          ],
        },
      },
    },
  },
});
