// Loaded before the app (`node --import`): redirects every import of the module `electron` to the stand-in.

import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron'
      ? { url: new URL('./entry.ts', import.meta.url).href, shortCircuit: true, format: 'module-typescript' }
      : next(specifier, context),
});
