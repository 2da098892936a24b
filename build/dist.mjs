// `npm run dist [-- --dir]`: builds, then packages the app for this platform into release/; with --dir only the folder, no installer. Uses
// the Electron of `npm start`, fetched if missing. Exits with 1 and a one-line reason when something is missing.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from 'electron-builder';
import { packagingConfig, removeEmptySecrets } from './electron-builder.mjs';
import { projectRoot } from './files.mjs';
import { bringElectron } from '../main/electron-binary.ts';

process.exitCode = await dist(process.argv.slice(2));

/** @param {string[]} args */
async function dist(args) {
  const unknown = args.filter((arg) => arg !== '--dir');
  if (unknown.length > 0) return fail(`unknown: ${unknown.join(' ')}; usage: npm run dist [-- --dir]`, 2);
  const built = spawnSync(process.execPath, [join(projectRoot, 'build/build.mjs'), '--if-stale', '--quiet'], { stdio: 'inherit' });
  if (built.status !== 0) return fail('the build failed, see above', 1);
  const say = (/** @type {string} */ line) => void process.stdout.write(`dist: ${line}\n`);
  const electron = await bringElectron({ root: projectRoot, env: process.env, platform: process.platform, say });
  if ('why' in electron) return fail(electron.why, 1);
  removeEmptySecrets(process.env);
  try {
    const artifacts = await build({
      projectDir: projectRoot,
      publish: 'never',
      dir: args.includes('--dir'),
      config: { ...packagingConfig(projectRoot, process.env), electronDist: electron.folder },
    });
    for (const artifact of artifacts) process.stdout.write(`dist: ${artifact}\n`);
    return 0;
  } catch (cause) {
    return fail(firstLine(cause), 1);
  }
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
