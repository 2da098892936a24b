// Builds dist/: the command line, the library, the daemon, the desktop, the preload bridge and the window.
// `--if-stale` does nothing when dist/ already matches the sources; `--quiet` prints only errors.

import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { diagramLibrary, diagramPage, diagramPageFile, pdfLibrary, pdfLibraryFile } from './framed-pages.ts';
import { fingerprint, isFresh, readStamp, stampFile } from './freshness.mjs';
import { listFiles, projectRoot } from './files.mjs';
import { bundledPackages, licenseNotices, noticesFile } from './license-notices.ts';
import { inOneByte } from './one-byte.ts';
import { inShortLines } from './short-lines.ts';
import { nodeBundle } from './vite.node.ts';
import { withLock } from './build-lock.ts';
import type * as Vite from 'vite';

const ENTRIES = {
  cli: 'main/cli.ts',
  index: 'core/index.ts',
  daemon: 'main/daemon.ts',
  desktop: 'main/desktop.ts',
  'page-worker': 'core/hands/tools/web-page-worker.ts',
  'document-worker': 'core/features/memory/documents/document-worker.ts',
  'engine-child': 'core/mind/llm/embedded/engine-child.ts',
};
const PRELOAD = { preload: 'preload/preload.ts' };
const RENDERER_CONFIG = 'build/vite.renderer.config.ts';

const root = projectRoot;
const dist = join(root, 'dist');
const quiet = process.argv.includes('--quiet');
const say = (line: string) => quiet || process.stdout.write(`${line}\n`);

await withLock(join(dist, '.building'), async () => {
  if (process.argv.includes('--if-stale') && isFresh(root)) return;
  const startMs = performance.now();
  // Taken before the build: if a source changes during the build, dist/ counts as stale, never wrongly as fresh.
  const stamp = fingerprint(root);
  const previous = readStamp(root)?.files ?? [];
  const vite = await import('vite');
  const program = await bundle(vite, ENTRIES, 'es');
  const preload = await bundle(vite, PRELOAD, 'cjs');
  const window = await buildRenderer(vite);
  const written = [
    ...writeBundle(program),
    ...writeBundle(preload),
    ...window.files,
    writeNotices([...bundledPackages([...program, ...preload, ...window.output]), diagramLibrary(root)]),
  ];
  removeOldFiles(written, previous);
  writeFileSync(join(root, stampFile), JSON.stringify({ fingerprint: stamp, files: written }));
  say(summary(written, performance.now() - startMs));
});

async function bundle(vite: typeof Vite, entries: Record<string, string>, format: 'es' | 'cjs') {
  const present = Object.entries(entries).filter(([, source]) => existsSync(join(root, source)));
  if (present.length === 0) return [];
  const result = await vite.build(nodeBundle(root, Object.fromEntries(present), format));
  return [result].flat().flatMap((part) => ('output' in part ? part.output : []));
}

/** The chunks and their source maps by file name, with the changes made after bundling. */
function contentsOf(output: Vite.Rolldown.OutputBundle[string][]) {
  const contents = new Map(output.map((part) => [part.fileName, part.type === 'chunk' ? part.code : part.source]));
  for (const part of output) {
    const { fileName } = part;
    const map = contents.get(`${fileName}.map`);
    if (map === undefined) continue;
    const parsed = JSON.parse(String(map));
    const narrow = inOneByte(String(contents.get(fileName)), parsed.mappings);
    const { code, mappings } = hasOwnCode(part) ? inShortLines(narrow.code, narrow.mappings) : narrow;
    contents.set(fileName, code).set(`${fileName}.map`, JSON.stringify({ ...parsed, mappings }));
  }
  return contents;
}

function hasOwnCode(part: Vite.Rolldown.OutputBundle[string]) {
  return part.type === 'chunk' && part.moduleIds.some((id) => !id.includes('node_modules') && !id.startsWith('\0'));
}

/**
 * Writes entry files last and puts them in place by renaming, so that a process that starts meanwhile sees the old program or the new one,
 * never a mixture.
 */
function writeBundle(output: Vite.Rolldown.OutputBundle[string][]) {
  const contents = contentsOf(output);
  const isEntry = (part: (typeof output)[number]) => part.type === 'chunk' && part.isEntry;
  for (const part of output.toSorted((a, b) => Number(isEntry(a)) - Number(isEntry(b)))) {
    const file = join(dist, part.fileName);
    const next = `${file}.${process.pid}`;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(next, contents.get(part.fileName) ?? '');
    if (part.fileName === 'cli.js') chmodSync(next, 0o755);
    renameSync(next, file);
  }
  return output.map((part) => part.fileName);
}

function writeNotices(packages: readonly string[]) {
  writeFileSync(join(dist, noticesFile), licenseNotices(packages));
  return noticesFile;
}

async function buildRenderer(vite: typeof Vite) {
  if (!existsSync(join(root, RENDERER_CONFIG))) {
    say(`build: no ${RENDERER_CONFIG} yet, so no window`);
    return { files: [], output: [] };
  }
  const next = join(dist, 'renderer.next');
  const result = await vite.build({
    configFile: join(root, RENDERER_CONFIG),
    logLevel: 'warn',
    build: { outDir: next, emptyOutDir: true },
  });
  writeFileSync(join(next, diagramPageFile), await diagramPage(vite, root));
  writeFileSync(join(next, pdfLibraryFile), pdfLibrary(root));
  rmSync(join(dist, 'renderer'), { recursive: true, force: true });
  renameSync(next, join(dist, 'renderer'));
  return {
    files: listFiles(dist, ['renderer']),
    output: [result].flat().flatMap((part) => ('output' in part ? part.output : [])),
  };
}

/** Keeps the chunks of the previous build, because a running program may still load them; removes older ones. */
function removeOldFiles(written: string[], previous: string[]) {
  const kept = new Set([...written, ...previous]);
  for (const path of listFiles(dist, ['.'])) {
    if (path.startsWith('chunks/') && !kept.has(path)) rmSync(join(dist, path));
  }
  rmSync(join(dist, '.compile-cache'), { recursive: true, force: true });
}

function summary(written: string[], tookMs: number) {
  const code = written.filter((path) => !path.endsWith('.map'));
  const sizeBytes = code.reduce((sum, path) => sum + statSync(join(dist, path)).size, 0);
  return `build: ${code.length} files, ${Math.round(sizeBytes / 1024)} KB in ${(tookMs / 1000).toFixed(1)} s`;
}
