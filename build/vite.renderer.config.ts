// Builds the window: one HTML file and its assets with relative addresses, so that the loopback host and the desktop shell can both serve it.

import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';

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

// Vite reads its configuration from a default export.
export default defineConfig({
  root,
  base: './',
  publicDir: 'public',
  plugins: [withoutSchemas, svelte({ configFile: false, compilerOptions: { runes: true } })],
  // As modules, so that each grammar of the code worker is a separate file.
  worker: { format: 'es', plugins: () => [rubyAlone, javascriptAsTsx] },
  build: {
    outDir: fileURLToPath(new URL('../dist/renderer', import.meta.url)),
    emptyOutDir: true,
    target: ['chrome130', 'firefox130', 'safari18'],
    // Inlined assets would need data: in more places of the content policy than we allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
