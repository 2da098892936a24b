// Entry of the command line. The version is answered before anything else is loaded; all other work is in cli-process.ts.

import { readFileSync } from 'node:fs';
import nodeModule from 'node:module';
import { homedir } from 'node:os';

// The same place from the checkout (main/) and from the build (dist/).
const packageRoot = new URL('../', import.meta.url);
/** Older ones crash in the database driver. */
const NODE_MAJOR_MIN = 22;
const argv = process.argv.slice(2);
const { version } = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as { version: string };

if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  process.stdout.write(version + '\n');
} else if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  process.stderr.write(`TrayClaw needs Node ${NODE_MAJOR_MIN} or newer; this is ${process.versions.node}.\n`);
  process.stderr.write('From a checkout, npm start and npm run trayclaw bring their own.\n');
  process.exitCode = 1;
} else {
  const { compileCacheFolder } = await import('./compile-cache.ts');
  nodeModule.enableCompileCache(compileCacheFolder(process.env, process.platform, homedir()));
  const { runProcess } = await import('./cli-process.ts');
  await runProcess(argv, { version, packageRoot });
}
