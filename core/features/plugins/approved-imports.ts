// Holds a running plugin to the files that were hashed: what it imports later is compared when it is loaded, and its imports by path lead to
// no other file. Packages from elsewhere, worker threads and files read as data are not covered.

import { readFileSync } from 'node:fs';
import nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';
import { isInside } from '../../base/inside-folder.ts';
import { hashOf, type PluginContent } from './plugin-content.ts';

const isPath = /^(?:\.|\/|file:)/;

/** Until it is disposed of. A changed or new file fails the import. */
export function holdImports({ path, files }: Pick<PluginContent, 'path' | 'files'>): { dispose(): void } {
  const coveredFile = (url = ''): string | null => {
    const file = url.startsWith('file:') ? fileURLToPath(url) : null;
    return file !== null && isInside(file, path) ? file : null;
  };
  const readApproved = (file: string): Buffer => {
    const source = readFileSync(file);
    if (files.get(file) !== hashOf(source)) throw new Error(`${file} is not as it was when the plugin was approved.`);
    return source;
  };
  const hooks = nodeModule.registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context);
      const file = coveredFile(found.url);
      const leaves = file === null && isPath.test(specifier) && coveredFile(context.parentURL) !== null;
      if (leaves) throw new Error(`The plugin at ${path} imports ${specifier}, which is not part of what was approved.`);
      // Node loads native code without the hook below.
      if (file?.endsWith('.node') === true) readApproved(file);
      return found;
    },
    load: (url, context, next) => {
      const file = coveredFile(url);
      return file === null ? next(url, context) : { ...next(url, context), source: readApproved(file), shortCircuit: true };
    },
  });
  return {
    dispose: () => {
      hooks.deregister();
    },
  };
}
