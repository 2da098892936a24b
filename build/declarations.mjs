// Writes the library's types to one file, dist/index.d.ts, from core/index.ts and everything it names. zod is the only import left, because
// the argument types of tools and operations are derived from its schemas. It compiles the whole core, so it runs when the package is made
// and not at each build.

import { hash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateDtsBundle } from 'dts-bundle-generator';
import { openCheckCache } from './check-cache.mjs';

/** In dist/. */
export const declarationsFile = 'index.d.ts';
const ZOD = "import type * as z from 'zod';\n";

/**
 * Does nothing where the file is the one that was made of these sources.
 * @param {string} root
 */
export function writeDeclarations(root) {
  const file = join(root, 'dist', declarationsFile);
  const cache = openCheckCache(root);
  const key = cache.keyOf(['build/declarations.mjs', 'core/index.ts']);
  const made = () => `${key} ${hash('sha256', readFileSync(file))}`;
  if (existsSync(file) && cache.read('declarations').has(made())) return;
  // Without a check of the sources, which are checked elsewhere: it took half of the time. And without what is marked `@internal`: the types
  // of the composition are inferred, and the library names none of them.
  const [text = ''] = generateDtsBundle(
    // Only the exports of core/index.ts are exported: a type that merely occurs in it may change without notice.
    [
      {
        filePath: join(root, 'core/index.ts'),
        libraries: { importedLibraries: ['zod'], allowedTypesLibraries: [] },
        output: { noBanner: true, exportReferencedTypes: false },
      },
    ],
    { preferredConfigPath: join(root, 'build/tsconfig.declarations.json') },
  );
  writeFileSync(file, withZod(text));
  cache.write('declarations', [made()]);
}

/**
 * The generator inlines each file after its own imports and drops namespace imports, which is the only form used here.
 * @param {string} text
 */
function withZod(text) {
  const imports = [...text.matchAll(/^import .*$/gm)].map(([line]) => line);
  if (imports.length > 0) throw new Error(`the declarations import more than zod: ${imports.join(' ')}`);
  return ZOD + text;
}
