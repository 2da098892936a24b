// `node build/icons.mjs`: draws the app's icon into build/icons. The files are committed; a test compares them with the drawing.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './files.mjs';
import { createIconFiles } from './icon-files.mjs';

const folder = join(projectRoot, 'build', 'icons');
mkdirSync(folder, { recursive: true });
for (const { name, data } of createIconFiles()) {
  writeFileSync(join(folder, name), data);
  process.stdout.write(`${name.padEnd(14)}${data.length} bytes\n`);
}
