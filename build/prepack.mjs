// Runs before `npm pack` and `npm publish`: builds dist/ from the current sources, the declarations, and the list of packaged files. The
// list is an .npmignore in dist/. It excludes the desktop and chunks of earlier builds, which stay in dist/ because running programs use
// them.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { declarationsFile, writeDeclarations } from './declarations.ts';
import { projectRoot } from './files.mjs';
import { packageEntries, packedOutput } from './packed-files.ts';

const built = spawnSync(process.execPath, [join(projectRoot, 'build/build.mjs'), '--if-stale', '--quiet'], { stdio: ['ignore', 2, 2] });
if (built.status === 0) {
  writeDeclarations(projectRoot);
  const files = [...packedOutput(projectRoot, packageEntries).map((path) => path.slice('dist/'.length)), declarationsFile];
  writeFileSync(join(projectRoot, 'dist/.npmignore'), ignoreAllBut(files));
} else {
  process.exitCode = 1;
}

/**
 * Also lists folders, because npm never looks inside an ignored folder.
 * @param {readonly string[]} files
 */
function ignoreAllBut(files) {
  const folders = new Set();
  for (const file of files) for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) folders.add(`${folder}/`);
  return ['*', ...[...folders, ...files].map((path) => `!/${path}`), ''].join('\n');
}
