// `npm test [-- FILTER…]`: builds if dist/ is stale, runs every suite, and ends with the line "N passed, N failed". The line before lists
// skipped tests and what they lacked. End-to-end tests run only if there is a Chromium. `npm run soak [-- FILTER…]` runs the long tests
// (those that take their length from tests/soak.ts) at full length.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium, findOnPath } from './chromium.ts';
import { listFiles, projectRoot } from './files.mjs';
import { findLeftovers } from './leftovers.ts';
import { describeSkipped } from './skipped.ts';
import type { Tally } from './test-tally.ts';

/** Slower files are listed when the whole run takes too long. */
const SLOW_SECONDS = 10;

const ENDING_TAKES_MS = 3_000;

const [first, ...named] = process.argv.slice(2);
if (first === '--soak') {
  process.env['TRAYCLAW_SOAK'] ??= '1';
  runTests(named.length > 0 ? named : longTests());
} else runTests(process.argv.slice(2));

function longTests() {
  const paths = listFiles(projectRoot, ['tests', 'core']).filter((path) => /\.(?:test|e2e)\.ts$/.test(path));
  // The visual tests of the window run in full as well.
  return paths.filter((path) => /\/(?:soak|looks)\.ts';/.test(readFileSync(join(projectRoot, path), 'utf8')));
}

function runTests(filters: string[]) {
  const build = node(['build/build.mjs', '--if-stale', '--quiet'], {});
  if (build.status !== 0) {
    process.stdout.write('the build failed, so no test ran\n');
    return finish({ passed: 0, failed: 1, skipped: 0, lacking: {}, files: 0, slowest: [] }, false);
  }
  // A short path: the socket of a data folder below it must fit into the system's limit of 108 bytes.
  const scratch = mkdtempSync(join(tmpdir(), 'tc-'));
  try {
    const tallyFile = join(scratch, 'tally.json');
    const run = runVitest(filters, tallyFile, scratch);
    const tally = readTally(tallyFile);
    tally.failed += reportLeftovers(scratch);
    const skipped = describeSkipped(tally.lacking, findChromium() === null ? countEndToEnd(filters) : 0);
    if (skipped !== '') process.stdout.write(`${skipped}\n`);
    if (tally.files === 0) process.stdout.write(filters.length > 0 ? `no test file matches ${filters.join(' ')}\n` : 'no test ran\n');
    finish(tally, run.status === 0);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** `scratch`: the parent of every temporary folder of the run. */
function runVitest(filters: string[], tallyFile: string, scratch: string) {
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'build/vitest.config.ts', ...filters];
  const compiled = join(scratch, 'trayclaw-compiled');
  const env = { TRAYCLAW_TEST_TALLY: tallyFile, TMPDIR: scratch, TEMP: scratch, TMP: scratch, NODE_COMPILE_CACHE: compiled };
  const chromium = findChromium();
  if (chromium === null) return node([...args, '--project', '!e2e*'], env);
  return node(args, { ...env, TRAYCLAW_CHROMIUM: chromium }, displayWrapper());
}

/** Counts the end-to-end files that the filters select. */
function countEndToEnd(filters: string[]) {
  if (filters.includes('--project')) return 0;
  const names = filters.filter((filter) => !filter.startsWith('-'));
  const isAsked = (path: string) => names.length === 0 || names.some((name) => path.includes(name));
  return listFiles(projectRoot, ['tests/e2e']).filter((path) => path.endsWith('.e2e.ts') && isAsked(path)).length;
}

/**
 * Reports processes that outlive the run, which is a failure because they keep memory and ports in use. The virtual display received its
 * signal only a moment ago, so the check is repeated until a deadline. Returns the number of processes.
 */
function reportLeftovers(scratch: string): number {
  const deadline = performance.now() + ENDING_TAKES_MS;
  let left = findLeftovers(scratch);
  while (left.length > 0 && performance.now() < deadline) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    left = findLeftovers(scratch);
  }
  for (const { pid, command } of left) process.stdout.write(`left running by a test: ${pid} ${command}\n`);
  return left.length;
}

/** On Linux without a display, windows need a virtual one; without that, the browser still runs headless. */
function displayWrapper() {
  const hasDisplay = process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY'];
  if (process.platform !== 'linux' || hasDisplay) return [];
  const xvfb = findOnPath(['xvfb-run']);
  return xvfb === null ? [] : [xvfb, '-a', '-s', '-screen 0 1600x1200x24'];
}

/** `wrapper`: a command that runs another. */
function node(args: string[], env: Record<string, string>, wrapper: string[] = []) {
  const [command, ...rest] = [...wrapper, process.execPath, ...args];
  return spawnSync(command ?? process.execPath, rest, { cwd: projectRoot, stdio: 'inherit', env: { ...process.env, ...env } });
}

/** Returns a single failure if the run ended before it could count. */
function readTally(file: string): Tally {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    process.stdout.write(`the run left no counts: ${String(cause)}\n`);
    return { passed: 0, failed: 1, skipped: 0, lacking: {}, files: 1, slowest: [] };
  }
}

function finish(tally: Tally, runnerSucceeded: boolean) {
  const isGreen = runnerSucceeded && tally.failed === 0 && tally.passed > 0;
  process.exitCode = isGreen ? 0 : 1;
  const slow = tally.slowest.filter(({ seconds }) => seconds >= SLOW_SECONDS);
  if (slow.length > 0)
    process.stdout.write(
      `the slowest files:\n${slow.map(({ file, seconds }) => `  ${seconds.toFixed(0).padStart(4)} s  ${file}`).join('\n')}\n`,
    );
  const skipped = tally.skipped > 0 ? `, ${tally.skipped} skipped` : '';
  process.stdout.write(`${tally.passed} passed, ${tally.failed} failed${skipped}\n`);
}
