// `npm run dist [-- --dir]`: builds, then packages the app for this platform into release/; with --dir the folder alone, no installer.
// Needs Electron's binary, which its own package fetches. Ends with 1 and one line of why when something is missing.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from 'electron-builder';
import { packagingConfig } from './electron-builder.mjs';
import { projectRoot } from './files.mjs';

process.exitCode = await dist(process.argv.slice(2));

/** @param {string[]} args */
async function dist(args) {
  const unknown = args.filter((arg) => arg !== '--dir');
  if (unknown.length > 0) return fail(`unknown: ${unknown.join(' ')}; usage: npm run dist [-- --dir]`, 2);
  const built = spawnSync(process.execPath, [join(projectRoot, 'build/build.mjs'), '--if-stale', '--quiet'], { stdio: 'inherit' });
  if (built.status !== 0) return fail('the build failed, see above', 1);
  const config = packagingConfig(projectRoot, process.env);
  // Between these two electron-builder does nothing but bring Electron.
  let isFetching = false;
  try {
    const artifacts = await build({
      projectDir: projectRoot,
      publish: 'never',
      dir: args.includes('--dir'),
      config: {
        ...config,
        beforePack: async (context) => {
          await hook(config.beforePack)?.(context);
          isFetching = true;
        },
        afterExtract: () => {
          isFetching = false;
        },
      },
    });
    for (const artifact of artifacts) process.stdout.write(`dist: ${artifact}\n`);
    return 0;
  } catch (cause) {
    const why = firstLine(cause);
    return fail(isFetching ? `Electron ${config.electronVersion} could not be fetched (${why})` : why, 1);
  }
}

/**
 * Ours are functions; electron-builder would take the name of a module as well.
 * @param {import('electron-builder').Configuration['beforePack']} value
 */
function hook(value) {
  return typeof value === 'function' ? /** @type {(context: object) => unknown} */ (value) : undefined;
}

/** @param {unknown} cause */
function firstLine(cause) {
  return (cause instanceof Error ? cause.message : String(cause)).split('\n')[0] ?? '';
}

/**
 * @param {string} line
 * @param {number} code
 */
function fail(line, code) {
  process.stderr.write(`dist: ${line}\n`);
  return code;
}
