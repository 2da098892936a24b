// Entry of the command line. The version is answered before anything else is loaded; all other work is in cli-process.ts.

import { readFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';

// The same place from the checkout (main/) and from the build (dist/).
const packageRoot = new URL('../', import.meta.url);
const argv = process.argv.slice(2);
const { version } = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as { version: string };

if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  process.stdout.write(version + '\n');
} else {
  const { compileCacheFolder } = await import('./compile-cache.ts');
  enableCompileCache(compileCacheFolder(process.env, process.platform, homedir()));
  const { runProcess } = await import('./cli-process.ts');
  await runProcess(argv, { version, packageRoot });
}
