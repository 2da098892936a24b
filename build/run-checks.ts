// `npm run check [-- NAME…]`: runs every rule that a machine can check and prints one line each. Changes no files.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism, freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import { openCheckCache, type Held } from './check-cache.ts';
import { listFiles, projectRoot } from './files.mjs';

const OUTPUT_CHARS_MAX = 40_000;
/** Each check already uses more than one core. */
const AT_ONCE_MAX = 2;
const GIB = 2 ** 30;
/**
 * The linter's Go part keeps close to 3 GiB: with a limit at that size it spent half its time collecting garbage. Takes at most
 * half of what is free, because the machine may have other work.
 */
const GO_GIB = Math.min(8, Math.max(3, Math.floor(Math.min(totalmem() / 3, freemem() / 2) / GIB)));
const GO = { GOGC: GO_GIB < 6 ? '200' : 'off', GOMEMLIMIT: `${GO_GIB}GiB` };
/** The maximum number of paths for one command line; above it, the whole folder is checked. */
const PATHS_MAX = 400;

interface Check {
  readonly name: string;
  /** A second name that selects it. */
  readonly also?: string;
  /** A script to run under Node, and its arguments. */
  readonly command: () => string[];
  /** A file without which there is nothing to check yet. */
  readonly needs?: string;
  /** Whether its last line is shown when it passes. */
  readonly tellsFigures?: boolean;
  /** The files it reads; its result depends on them and on all their imports. Without `inputs` it always runs. */
  readonly inputs?: RegExp;
  /** Judges each file separately, by its text alone or with its imports; its command takes paths. */
  readonly each?: 'file' | 'imports';
}

const SOURCES = /^(?:core|main|preload|renderer|tests|build)\/.*\.(?:[cm]?[jt]s|svelte)$|^package\.json$/;

/** Slow checks come first. */
const CHECKS: Check[] = [
  {
    // One program for the compiler's errors and the rules that need types, because reading and typing all files is most of the work of
    // both.
    name: 'types',
    also: 'lint',
    inputs: /^(?!tests\/fixtures\/).*\.[cm]?[jt]sx?$|\.svelte$/,
    each: 'imports',
    command: () => ['node_modules/oxlint/bin/oxlint'],
  },
  {
    name: 'window format',
    also: 'format',
    inputs: /\.svelte$/,
    each: 'file',
    command: () => ['node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn'],
  },
  {
    name: 'window types',
    needs: 'renderer/tsconfig.json',
    inputs: /^renderer\/.*\.(?:ts|svelte|css)$/,
    command: () => [
      'node_modules/svelte-check/bin/svelte-check',
      '--tsconfig',
      'renderer/tsconfig.json',
      '--fail-on-warnings',
      '--output',
      'human',
    ],
  },
  {
    name: 'window lint',
    needs: 'renderer',
    inputs: /\.svelte$/,
    each: 'file',
    command: () => ['node_modules/eslint/bin/eslint.js', '--config', 'build/eslint.config.mjs', '--max-warnings', '0'],
  },
  // Covers everything but Svelte components, which oxfmt does not read; the previous formatter took forty times as long.
  { name: 'format', inputs: /^/, command: () => ['node_modules/oxfmt/bin/oxfmt', '--check'] },
  { name: 'layers', inputs: SOURCES, command: () => ['build/check-layers.mjs'], tellsFigures: true },
  { name: 'unused', needs: 'main/cli.ts', inputs: /^/, command: () => ['node_modules/knip/bin/knip.js', '--no-progress'] },
  { name: 'tree', command: () => ['build/check-tree.ts'], tellsFigures: true },
  { name: 'lock file', command: () => ['build/check-lock.ts'], tellsFigures: true },
];

await runChecks(process.argv.slice(2));

async function runChecks(names: string[]) {
  const unknown = names.filter((name) => !CHECKS.some((check) => isCalled(check, name)));
  if (unknown.length > 0) {
    process.stdout.write(`no such check: ${unknown.join(', ')}; there are: ${CHECKS.map((check) => check.name).join(', ')}\n`);
    process.exitCode = 2;
    return;
  }
  const startMs = performance.now();
  const queue = CHECKS.filter((check) => names.length === 0 || names.some((name) => isCalled(check, name)));
  const counts = { hold: 0, fail: 0, wait: 0 };
  const cache = openCheckCache(projectRoot);
  const worker = async () => {
    for (let check = queue.shift(); check !== undefined; check = queue.shift()) counts[await run(check, cache)] += 1;
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), AT_ONCE_MAX) }, worker));
  const waiting = counts.wait > 0 ? `, ${counts.wait} with nothing to check yet` : '';
  process.stdout.write(`${counts.hold} checks hold, ${counts.fail} fail${waiting} (${seconds(startMs).trim()})\n`);
  process.exitCode = counts.fail > 0 ? 1 : 0;
}

function isCalled(check: Check, name: string) {
  return check.name === name || check.also === name;
}

async function run(check: Check, cache: Held): Promise<'hold' | 'fail' | 'wait'> {
  if (check.needs !== undefined && isAbsent(check.needs)) {
    report('skip', check.name, `        there is no ${check.needs} yet`);
    return 'wait';
  }
  const startMs = performance.now();
  const work = whatIsLeft(check, cache);
  if (work.paths?.length === 0) {
    report('ok', check.name, `${seconds(startMs)}  nothing changed since it held`);
    return 'hold';
  }
  const { code, output } = await runNode([...check.command(), ...(check.each ? commandPaths(work) : [])]);
  const detail = check.tellsFigures ? `  ${output.trimEnd().split('\n').at(-1) ?? ''}` : '';
  report(code === 0 ? 'ok' : 'FAIL', check.name, seconds(startMs) + detail);
  if (code !== 0) process.stdout.write(`${output.trimEnd().replaceAll(/^/gm, '        ')}\n`);
  if (code === 0 && work.keys) cache.write(check.name, work.keys);
  return code === 0 ? 'hold' : 'fail';
}

/** The files that still have to be checked, and the keys to store if the check passes. */
function whatIsLeft({ name, inputs, each }: Check, cache: Held): { paths?: string[]; keys?: string[]; all?: string[] } {
  if (!inputs) return {};
  const all = cache.paths.filter((path) => inputs.test(path));
  const held = cache.read(name);
  if (!each) {
    const key = cache.keyOf(all);
    return { paths: held.has(key) ? [] : all, keys: [key] };
  }
  const keyed = all.map((path) => ({ path, key: each === 'file' ? cache.keyOfOne(path) : cache.keyOf([path]) }));
  return { all, paths: keyed.filter(({ key }) => !held.has(key)).map(({ path }) => path), keys: keyed.map(({ key }) => key) };
}

function commandPaths({ paths = [], all = [] }: { paths?: string[]; all?: string[] }) {
  if (paths.length <= PATHS_MAX) return paths;
  return all.every((path) => path.endsWith('.svelte')) ? ['**/*.svelte'] : ['.'];
}

function isAbsent(path: string) {
  return !existsSync(join(projectRoot, path)) || (!path.includes('.') && listFiles(projectRoot, [path]).length === 0);
}

function runNode(command: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, command, { cwd: projectRoot, stdio: ['ignore', 'pipe', 'pipe'], env: { ...GO, ...process.env } });
    let output = '';
    const collect = (chunk: Buffer) => void (output = (output + chunk.toString()).slice(-OUTPUT_CHARS_MAX));
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (cause) => resolve({ code: 1, output: cause.message }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

function report(word: string, name: string, detail: string) {
  process.stdout.write(`${word.padEnd(6)}${name.padEnd(14)}${detail}\n`);
}

function seconds(sinceMs: number) {
  return `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`.padStart(6);
}
