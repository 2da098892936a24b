// Runs the program from a checkout: `launch.mjs start|cli|bench ARGS…`. Builds first if dist/ is out of date, then loads the program into
// this process. Prints nothing on stdout itself.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from './files.mjs';
import { isFresh } from './freshness.mjs';
import { runsOnPinnedNode } from './node24.mjs';

const MODES = {
  start: { script: 'dist/cli.js', first: ['start'] },
  cli: { script: 'dist/cli.js', first: [] },
  bench: { script: 'tests/bench/bench.ts', first: [] },
};

if (runsOnPinnedNode()) await launch(process.argv[2] ?? '', process.argv.slice(3));

/**
 * @param {string} name
 * @param {string[]} args
 */
async function launch(name, args) {
  const mode = Object.hasOwn(MODES, name) ? MODES[/** @type {keyof typeof MODES} */ (name)] : null;
  if (mode === null) return fail(`usage: launch.mjs ${Object.keys(MODES).join('|')} ARGS…`, 2);
  if (!buildIfStale()) return fail('trayclaw: the build failed, see above', 1);
  const script = join(projectRoot, mode.script);
  if (!existsSync(script)) return fail(`trayclaw: there is no ${mode.script}`, 1);
  // Inside dist/, not the shared temporary folder, because the cache contains code that will run.
  module.enableCompileCache?.(join(projectRoot, 'dist/.compile-cache'));
  process.argv = [process.execPath, script, ...mode.first, ...args];
  await import(pathToFileURL(script).href);
}

function buildIfStale() {
  if (isFresh(projectRoot)) return true;
  process.stderr.write('trayclaw: building, the sources have changed\n');
  const build = join(projectRoot, 'build/build.mjs');
  return spawnSync(process.execPath, [build, '--if-stale', '--quiet'], { stdio: ['ignore', 2, 2] }).status === 0;
}

/**
 * @param {string} line
 * @param {number} code
 */
function fail(line, code) {
  process.stderr.write(`${line}\n`);
  process.exitCode = code;
}
