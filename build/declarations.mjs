// Writes the library's types to one file, dist/index.d.ts: core/index.ts and everything it refers to. zod is the only remaining import,
// because the argument types of tools and operations are derived from its schemas. Compiles the whole core, so it runs when the package is
// made, not at each build.

import { hash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateDtsBundle } from 'dts-bundle-generator';
import { openCheckCache } from './check-cache.mjs';

/** Path relative to dist/. */
export const declarationsFile = 'index.d.ts';
const ZOD = "import type * as z from 'zod';\n";

/**
 * Does nothing if the file already matches the current sources.
 * @param {string} root
 */
export function writeDeclarations(root) {
  const file = join(root, 'dist', declarationsFile);
  const cache = openCheckCache(root);
  const key = cache.keyOf(['build/declarations.mjs', 'core/index.ts']);
  const made = () => `${key} ${hash('sha256', readFileSync(file))}`;
  if (existsSync(file) && cache.read('declarations').has(made())) return;
  // Type checking is off, because the sources are checked elsewhere and it took half the time. `@internal` declarations are left out: the
  // types of the composition are inferred, and the library refers to none of them.
  const [text = ''] = generateDtsBundle(
    // Only the exports of core/index.ts are exported: a type that is merely used by them may change without notice.
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
 * Adds the import of zod: the generator inlines each file after its own imports, and drops namespace imports, which is the only form used
 * here.
 * @param {string} text
 */
function withZod(text) {
  const imports = [...text.matchAll(/^import .*$/gm)].map(([line]) => line);
  if (imports.length > 0) throw new Error(`the declarations import more than zod: ${imports.join(' ')}`);
  return ZOD + text;
}
