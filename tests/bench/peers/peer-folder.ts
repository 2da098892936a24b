// Other agent libraries, installed on demand into separate folders below .bench/ and loaded from there: they are not dependencies of this
// project. Each adapter declares only the parts of a library that it uses.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';

export interface PeerPackages {
  readonly name: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly overrides?: Readonly<Record<string, string>>;
}

export type ImportFrom = <T>(specifier: string) => Promise<T>;

const INSTALL_MS_MAX = 300_000;
const peersRoot = fileURLToPath(new URL('../../../.bench/peers/', import.meta.url));

/** Resolves to null if the packages are installed, otherwise to one sentence with the reason. */
export async function installPeer(packages: PeerPackages): Promise<string | null> {
  const folder = join(peersRoot, packages.name);
  const { dependencies, overrides } = packages;
  const manifest = JSON.stringify({ private: true, type: 'module', dependencies, ...(overrides === undefined ? {} : { overrides }) });
  const installed = join(folder, 'installed.json');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === manifest) return null;
  mkdirSync(folder, { recursive: true });
  rmSync(installed, { force: true });
  writeFileSync(join(folder, 'package.json'), manifest);
  // Imports are resolved relative to the importing file, so each folder contains a file that imports on our behalf.
  writeFileSync(join(folder, 'import.mjs'), 'export const importHere = (specifier) => import(specifier);\n');
  const failure = await npmInstall(folder);
  if (failure === null) writeFileSync(installed, manifest);
  return failure;
}

export function isPeerInstalled(name: string): boolean {
  return existsSync(join(peersRoot, name, 'installed.json'));
}

/** The path of a program in the peer's packages, such as `@scope/name/dist/index.js`. */
export function peerFile(name: string, path: string): string {
  return join(peersRoot, name, 'node_modules', path);
}

export async function importFromPeer(name: string): Promise<ImportFrom> {
  const file = pathToFileURL(join(peersRoot, name, 'import.mjs')).href;
  const { importHere } = (await import(file)) as { importHere: ImportFrom };
  return importHere;
}

async function npmInstall(folder: string): Promise<string | null> {
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error'];
  const child = spawn('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], timeout: INSTALL_MS_MAX });
  try {
    const [errors, [code]] = (await Promise.all([text(child.stderr), once(child, 'exit')])) as [string, [number | null]];
    if (code === 0) return null;
    const reason = errors.split('\n').find((line) => line.startsWith('npm error')) ?? 'npm gave no reason';
    return `npm install failed, perhaps because the registry cannot be reached (${reason})`;
  } catch (cause) {
    return `npm could not be started (${cause instanceof Error ? cause.message : String(cause)})`;
  }
}
