// Entry point of the command line. Prints the version before anything else is loaded; cli-process.ts does all other work.

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { describeOldNode } from '../core/base/node-floor.ts';
import { settleHome } from './settled-home.ts';

// The parent folder is the package root both in a checkout (main/) and in a build (dist/).
const packageRoot = new URL('../', import.meta.url);
const argv = process.argv.slice(2);
settleHome(process.env, homedir);
const oldNode = describeOldNode(process.versions.node);
const { version } = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as { version: string };

if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
    // A reader that closed early is not an error.
    if (cause.code === 'EPIPE') return;
    process.exitCode = 1;
    void import('../core/contracts/errors.ts').then(({ whyFileFailed }) => {
      process.stderr.write(`The output cannot be written: ${whyFileFailed(cause)}.\n`);
    });
  });
  process.stdout.write(version + '\n');
} else if (oldNode !== null) {
  process.stderr.write(`${oldNode} From a checkout, npm start and npm run trayclaw bring their own.\n`);
  process.exitCode = 1;
} else {
  const { compileCacheFolder, keepCompiled } = await import('./compile-cache.ts');
  keepCompiled(compileCacheFolder(process.env, process.platform, homedir()));
  if (argv[0] === '__complete') {
    const { complete } = await import('./complete.ts');
    await complete(argv.slice(1));
  } else {
    const { startFrugally } = await import('./frugal-start.ts');
    startFrugally();
    const { runProcess } = await import('./cli-process.ts');
    await runProcess(argv, { version, packageRoot });
  }
}
