// `check-tree.ts [ROOT]`: checks without parsing: file sizes, modules without an entry file, tests that replace modules or are skipped
// without a reason, and paths of a developer's machine in the project.

import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { isTestFile, listFiles, listProjectFiles, projectRoot, sourceFolders } from './files.mjs';
import { KERNEL, modularFloors } from './layers.ts';
import { escapeRegExp } from '../core/guard/safety/pattern-rule.ts';

const LINES_MAX = 400;
const LINES_MEDIAN_AIM = 120;
const MODULE_MOCKING = /\b(?:vi|vitest|jest)\s*\.\s*(?:do)?mock\s*\(/i;
/** `test.skipIf(…)` and other ways to skip a test without stating a reason. */
const BARE_SKIP = /\.(?:skipIf|runIf|skip|todo)\s*\(/;
const TEXT = /\.(?:ts|mjs|cjs|js|svelte|css|html|md|json|ya?ml|sh)$|(?:^|\/)(?:run|\.[^/.]+)$/;

const root = resolve(process.argv[2] ?? projectRoot);
const sources = listFiles(root, sourceFolders).filter((path) => /\.(ts|svelte)$/.test(path));
const product = sources.filter((path) => !isTestFile(path));
const lines = product.map((path) => ({ path, count: read(path).split('\n').length - 1 })).sort((a, b) => a.count - b.count);

const problems = [
  ...(product.length === 0 ? [`no source file below ${root}`] : []),
  ...lines.filter(({ count }) => count > LINES_MAX).map(({ path, count }) => `${path} has ${count} lines; split it (${LINES_MAX} at most)`),
  ...sources.flatMap(findMisplaced),
  ...[...sources, ...listFiles(root, ['tests'])].flatMap(findUnfairTests),
  ...listProjectFiles(root).flatMap(findMachinePaths),
];
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.stdout.write(`${sizes()}, ${problems.length} problems\n`);
process.exitCode = problems.length > 0 ? 1 : 0;

function read(path: string) {
  return readFileSync(join(root, path), 'utf8');
}

/** In modular layers every file must belong to a module, and every module must have its entry file. */
function findMisplaced(path: string) {
  const [, floor, module, ...rest] = path.split('/');
  if (!path.startsWith('core/') || !floor || !module || !modularFloors.includes(floor)) return [];
  if (KERNEL.test(path)) return [];
  if (rest.length === 0) return [`${path} is in no module; give it a folder core/${floor}/<module>/`];
  const door = `core/${floor}/${module}/${module}.ts`;
  return existsSync(join(root, door)) ? [] : [`${path}: its module has no ${door}`];
}

function findUnfairTests(path: string) {
  const text = read(path);
  return [
    ...(MODULE_MOCKING.test(text) ? [`${path} mocks a module; pass a fake to the constructor`] : []),
    ...(isTestFile(path) && BARE_SKIP.test(text) ? [`${path} skips a test without a reason; give it needs(…) of tests/needs.ts`] : []),
  ];
}

function findMachinePaths(path: string) {
  if (path.endsWith('package-lock.json') || path.startsWith('tests/fixtures/') || !TEXT.test(path)) return [];
  const text = read(path);
  return machinePaths()
    .filter((pattern) => pattern.test(text))
    .map((pattern) => `${path} names a path of one machine (${pattern.source})`);
}

/** The folder of this checkout and the user's home; a home that any test might name, such as root's, is left out. */
function machinePaths() {
  const home = homedir();
  const own = [projectRoot.replace(/[\\/]$/, ''), ...(home.split(/[\\/]/).length > 2 ? [home] : [])];
  return [/(?<![\w.-])\/work\//, ...own.map((path) => new RegExp(`${escapeRegExp(path)}(?![\\w-])`))];
}

function sizes() {
  const median = lines[Math.floor(lines.length / 2)]?.count ?? 0;
  const longest = lines.at(-1);
  return `${lines.length} files, median ${median} lines (aim ${LINES_MEDIAN_AIM}), longest ${longest?.count ?? 0} (${longest?.path ?? 'none'})`;
}
