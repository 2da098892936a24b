// `node run-app.ts MAIN [ARGUMENTS]`: runs the app's main module as Electron does, with `electron` as the stand-in.

import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { codeLoaded } from './lifecycle.ts';

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron'
      ? { url: new URL('./entry.ts', import.meta.url).href, shortCircuit: true, format: 'module-typescript' }
      : next(specifier, context),
});

process.argv.splice(1, 1);
await import(pathToFileURL(process.argv[1] ?? '').href);
codeLoaded.resolve();
