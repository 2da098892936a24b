// A preload (`--import`) for programs that tests start many times: replaces their imports of the core with the built library. It is one
// file instead of several hundred, so each start takes a third of the work, and it is the file that people use. Vitest rebuilds it if it is
// stale.

import { registerHooks } from 'node:module';

const source = new URL('../core/index.ts', import.meta.url).href;
const built = new URL('../dist/index.js', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    return found.url === source ? { ...found, url: built, format: 'module' } : found;
  },
});
