// Runs Electronegativity over the desktop app and compares its findings with the explained list in build/electronegativity.json. The tool
// has some four hundred packages, so it is not a dependency of the project: build/audit has a separate lock file, and this script downloads
// nothing. Exits with 0 if every finding is explained and every explanation is still needed, with 1 if not, with 3 if the tool is not
// installed.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from './files.mjs';

const TOOL = join(projectRoot, 'build/audit/node_modules/@doyensec/electronegativity');
const RUN_WITHIN_MS = 120_000;

type Finding = { id: string; file: string; line: number; severity: string; sample: string };
type Explained = { id: string; file: string; why: string };

process.exitCode = await audit();

async function audit() {
  if (!existsSync(TOOL)) {
    process.stdout.write('Electronegativity is not installed; run "npm ci --prefix build/audit --ignore-scripts"\n');
    return 3;
  }
  const input = mkdtempSync(join(tmpdir(), 'trayclaw-audit-'));
  try {
    await gather(input);
    const { findings, unread } = run(input);
    return report(findings, unread);
  } finally {
    rmSync(input, { recursive: true, force: true });
  }
}

/**
 * Copies the sources of the shell and the built app. The tool does not support private fields, so the built files are first compiled to
 * older syntax.
 */
async function gather(input: string) {
  for (const folder of ['main', 'preload']) {
    cpSync(join(projectRoot, folder), join(input, folder), {
      recursive: true,
      filter: (path) => !/\.test\.ts$|__snapshots__/.test(path),
    });
  }
  cpSync(join(projectRoot, 'package.json'), join(input, 'package.json'));
  const { transformWithOxc } = await import('vite');
  const built = ['desktop.js', 'preload.cjs', ...rendererFiles()];
  for (const name of built) {
    const target = join(input, 'dist', name.replace(/\.cjs$/, '.js'));
    mkdirSync(join(target, '..'), { recursive: true });
    const text = readFileSync(join(projectRoot, 'dist', name), 'utf8');
    const isScript = /\.c?js$/.test(name);
    writeFileSync(target, isScript ? (await transformWithOxc(text, target, { target: 'es2020', sourcemap: false })).code : text);
  }
}

function rendererFiles() {
  const folder = join(projectRoot, 'dist', 'renderer');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:js|html)$/.test(name))
    .map((name) => join('renderer', name));
}

/**
 * Runs the tool in a separate process: it requests translations from the network, and without a network it fails after its work is done.
 */
function run(input: string): { findings: Finding[]; unread: string[] } {
  const { version } = JSON.parse(readFileSync(join(projectRoot, 'node_modules/electron/package.json'), 'utf8'));
  const outFile = join(input, 'findings.out');
  // The check for security releases asks GitHub; the Electron version is pinned and monitored in package.json instead.
  const options = {
    input,
    isRelative: true,
    electronVersionOverride: version,
    customScan: [],
    excludeFromScan: ['availablesecurityfixesglobalcheck'],
  };
  const script = `
    process.on('uncaughtException', () => undefined);
    const run = require(${JSON.stringify(join(TOOL, 'dist/runner.js'))});
    run(${JSON.stringify(options)}).then(({ issues, errors }) => {
      const findings = issues.map(({ id, file, location, severity, sample }) => ({ id, file, line: location.line, severity: severity.name, sample: sample ?? '' }));
      require('node:fs').writeFileSync(${JSON.stringify(outFile)}, JSON.stringify({ findings, unread: errors.map(({ file, message }) => file + ': ' + message) }));
      process.exit(0);
    });`;
  const ran = spawnSync(process.execPath, ['-e', script], { stdio: 'ignore', timeout: RUN_WITHIN_MS, cwd: input });
  if (!existsSync(outFile)) throw new Error(`electronegativity ended with ${ran.status ?? ran.signal} and found nothing out`);
  return JSON.parse(readFileSync(outFile, 'utf8'));
}

function report(findings: Finding[], unread: string[]) {
  const explained: Explained[] = JSON.parse(readFileSync(join(projectRoot, 'build/electronegativity.json'), 'utf8'));
  const serious = findings.filter(({ severity }) => severity !== 'INFORMATIONAL');
  const isFor = (entry: Explained, { id, file }: Finding) => entry.id === id && entry.file === file;
  const open = serious.filter((finding) => !explained.some((entry) => isFor(entry, finding)));
  const stale = explained.filter((entry) => !serious.some((finding) => isFor(entry, finding)));
  for (const { severity, id, file, line, sample } of open)
    process.stdout.write(`${severity} ${id} ${file}:${line} ${sample.trim().slice(0, 120)}\n`);
  for (const { id, file } of stale) process.stdout.write(`no longer found, so no longer to be explained: ${id} ${file}\n`);
  for (const line of unread) process.stdout.write(`not read: ${line}\n`);
  process.stdout.write(`${findings.length} findings, ${serious.length} above informational, ${open.length} not explained\n`);
  return open.length + stale.length + unread.length === 0 ? 0 : 1;
}
