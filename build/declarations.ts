// Writes the library's types to one file, dist/index.d.ts: core/index.ts and everything it refers to. zod is the only remaining import,
// because the argument types of tools and operations are derived from its schemas. Compiles the whole core, so it runs when the package is
// made, not at each build.

import { hash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { generateDtsBundle } from 'dts-bundle-generator';
import ts from 'typescript';
import { openCheckCache } from './check-cache.ts';

/** Path relative to dist/. */
export const declarationsFile = 'index.d.ts';
const SETTINGS = 'build/tsconfig.declarations.json';
const ZOD = "import type * as z from 'zod';\n";

/** Does nothing if the file already matches the current sources. */
export function writeDeclarations(root: string) {
  const file = join(root, 'dist', declarationsFile);
  const cache = openCheckCache(root);
  const key = cache.keyOf(['build/declarations.ts', 'core/index.ts']);
  const made = () => `${key} ${hash('sha256', readFileSync(file))}`;
  if (existsSync(file) && cache.read('declarations').has(made())) return;
  writeFileSync(file, withZod(bundle(root)));
  cache.write('declarations', [made()]);
}

/**
 * One text of what core/index.ts exports. The generator gets declarations: from sources it makes those of every file twice, which took
 * half the time.
 */
function bundle(root: string) {
  // In the project, because the declarations import zod.
  const folder = mkdtempSync(join(root, 'dist/declarations-'));
  try {
    for (const [path, text] of declarationsOf(root, join(root, 'core/index.ts'))) {
      const file = join(folder, relative(root, path));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    // Only the exports of core/index.ts are exported: a type that is merely used by them may change without notice.
    const [text = ''] = generateDtsBundle(
      [
        {
          filePath: join(folder, 'core/index.d.ts'),
          libraries: { importedLibraries: ['zod'], allowedTypesLibraries: [] },
          output: { noBanner: true, exportReferencedTypes: false },
        },
      ],
      { preferredConfigPath: join(root, SETTINGS) },
    );
    return text;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * The declarations of a file and of those that they import, by path. Types are not checked, because the sources are checked elsewhere.
 * `@internal` declarations are left out: the types of the composition are inferred, and the library refers to none of them.
 */
function declarationsOf(root: string, first: string): Map<string, string> {
  const { config } = ts.readConfigFile(join(root, SETTINGS), (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, join(root, 'build'));
  const program = ts.createProgram([first], { ...options, noEmit: false, declaration: true, emitDeclarationOnly: true });
  const made = new Map();
  const wanted = new Set([first]);
  for (const path of wanted) {
    let text = '';
    const take: ts.WriteFileCallback = (name, declarations) => {
      made.set(name, declarations);
      text = declarations;
    };
    const { diagnostics } = program.emit(program.getSourceFile(path), take, undefined, true);
    if (diagnostics.length > 0) throw new Error(ts.formatDiagnostics(diagnostics, ts.createCompilerHost(options)));
    const imported = ts.preProcessFile(text).importedFiles.filter(({ fileName }) => fileName.startsWith('.'));
    for (const { fileName } of imported) wanted.add(join(dirname(path), fileName));
  }
  return made;
}

/**
 * Adds the import of zod: the generator inlines each file after its own imports, and drops namespace imports, which is the only form used
 * here.
 */
function withZod(text: string) {
  const imports = [...text.matchAll(/^import .*$/gm)].map(([line]) => line);
  if (imports.length > 0) throw new Error(`the declarations import more than zod: ${imports.join(' ')}`);
  return ZOD + text;
}
