// Builds the window: one HTML file and its assets with relative addresses, so that the loopback host and the desktop shell can both serve it.

import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

const root = fileURLToPath(new URL('../renderer', import.meta.url));

// Vite reads its configuration from a default export.
export default defineConfig({
  root,
  base: './',
  publicDir: 'public',
  plugins: [svelte({ configFile: false, compilerOptions: { runes: true } })],
  // As modules, so that each grammar of the code worker is a file of its own.
  worker: { format: 'es' },
  build: {
    outDir: fileURLToPath(new URL('../dist/renderer', import.meta.url)),
    emptyOutDir: true,
    target: ['chrome130', 'firefox130', 'safari18'],
    // Inlined assets would need data: in more places of the content policy than we allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
