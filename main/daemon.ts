// Entry point of the headless host: the same runtime, with its window served on loopback, until the service manager ends it.

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { describeOldNode } from '../core/base/node-floor.ts';
import { settleHome } from './settled-home.ts';

settleHome(process.env, homedir);
const packageRoot = new URL('../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as { version: string };

const oldNode = describeOldNode(process.versions.node);
if (oldNode !== null) {
  process.stderr.write(`${oldNode}\n`);
  process.exitCode = 1;
} else {
  const { compileCacheFolder, keepCompiled } = await import('./compile-cache.ts');
  keepCompiled(compileCacheFolder(process.env, process.platform, homedir()));
  const { startFrugally } = await import('./frugal-start.ts');
  startFrugally();
  const { runProcess } = await import('./cli-process.ts');
  await runProcess(['serve', ...process.argv.slice(2)], { version, packageRoot });
}
