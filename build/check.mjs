// `npm run check [-- NAME…]`: every rule that a machine can check, one line each. Nothing here changes a file.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { listFiles, projectRoot } from './files.mjs';
import { runsOnPinnedNode } from './node24.mjs';

const OUTPUT_CHARS_MAX = 40_000;

/**
 * @typedef {object} Check
 * @property {string} name
 * @property {string[]} command a script to run under Node, and its arguments
 * @property {string} [needs] a file without which there is nothing to check yet
 * @property {boolean} [tellsFigures] its last line is worth showing when all is well
 */

/** The slow ones first: two run at a time. @type {Check[]} */
const CHECKS = [
  { name: 'types', command: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json', '--pretty', 'false'] },
  {
    name: 'window types',
    needs: 'renderer/tsconfig.json',
    command: [
      'node_modules/svelte-check/bin/svelte-check',
      '--tsconfig',
      'renderer/tsconfig.json',
      '--fail-on-warnings',
      '--output',
      'human',
    ],
  },
  { name: 'build types', command: ['node_modules/typescript/bin/tsc', '-p', 'build/tsconfig.json', '--pretty', 'false'] },
  { name: 'format', command: ['node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.'] },
  {
    name: 'window lint',
    needs: 'renderer',
    command: ['node_modules/eslint/bin/eslint.js', '--config', 'build/eslint.config.mjs', '--max-warnings', '0', '**/*.svelte'],
  },
  { name: 'unused', needs: 'main/cli.ts', command: ['node_modules/knip/bin/knip.js', '--no-progress'] },
  {
    name: 'lint',
    command: ['node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings', '--report-unused-disable-directives', '.'],
  },
  { name: 'layers', command: ['build/check-layers.mjs'], tellsFigures: true },
  { name: 'tree', command: ['build/check-tree.mjs'], tellsFigures: true },
  { name: 'lock file', command: ['build/check-lock.mjs'], tellsFigures: true },
];

if (runsOnPinnedNode()) await runChecks(process.argv.slice(2));

/** @param {string[]} names */
async function runChecks(names) {
  const unknown = names.filter((name) => !CHECKS.some((check) => check.name === name));
  if (unknown.length > 0) {
    process.stdout.write(`no such check: ${unknown.join(', ')}; there are: ${CHECKS.map((check) => check.name).join(', ')}\n`);
    process.exitCode = 2;
    return;
  }
  const startMs = performance.now();
  const queue = CHECKS.filter((check) => names.length === 0 || names.includes(check.name));
  const counts = { hold: 0, fail: 0, wait: 0 };
  const worker = async () => {
    for (let check = queue.shift(); check !== undefined; check = queue.shift()) counts[await run(check)] += 1;
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), 4) }, worker));
  const waiting = counts.wait > 0 ? `, ${counts.wait} with nothing to check yet` : '';
  process.stdout.write(`${counts.hold} checks hold, ${counts.fail} fail${waiting} (${seconds(startMs).trim()})\n`);
  process.exitCode = counts.fail > 0 ? 1 : 0;
}

/**
 * @param {Check} check
 * @returns {Promise<'hold' | 'fail' | 'wait'>}
 */
async function run(check) {
  if (check.needs !== undefined && isAbsent(check.needs)) {
    report('skip', check.name, `        there is no ${check.needs} yet`);
    return 'wait';
  }
  const startMs = performance.now();
  const { code, output } = await runNode(check.command);
  const detail = check.tellsFigures ? `  ${output.trimEnd().split('\n').at(-1) ?? ''}` : '';
  report(code === 0 ? 'ok' : 'FAIL', check.name, seconds(startMs) + detail);
  if (code !== 0) process.stdout.write(`${output.trimEnd().replaceAll(/^/gm, '        ')}\n`);
  return code === 0 ? 'hold' : 'fail';
}

/** @param {string} path */
function isAbsent(path) {
  return !existsSync(join(projectRoot, path)) || (!path.includes('.') && listFiles(projectRoot, [path]).length === 0);
}

/**
 * @param {string[]} command
 * @returns {Promise<{ code: number | null, output: string }>}
 */
function runNode(command) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, command, { cwd: projectRoot, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (/** @type {Buffer} */ chunk) => void (output = (output + chunk.toString()).slice(-OUTPUT_CHARS_MAX));
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (cause) => resolve({ code: 1, output: cause.message }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

/**
 * @param {string} word
 * @param {string} name
 * @param {string} detail
 */
function report(word, name, detail) {
  process.stdout.write(`${word.padEnd(6)}${name.padEnd(14)}${detail}\n`);
}

/** @param {number} sinceMs */
function seconds(sinceMs) {
  return `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`.padStart(6);
}
