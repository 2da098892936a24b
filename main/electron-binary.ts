// Finds Electron's program on this machine, or fetches it with Electron's own installer: at most once a day, with a time limit, and
// never in a test run or a build server. Starts nothing of it.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolders } from '../core/base/make-folders.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const binaryNames: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  win32: 'electron.exe',
  darwin: 'Electron.app/Contents/MacOS/Electron',
};
const FETCH_WITHIN_MS = 60_000;
const DAY_MS = 86_400_000;

export function findElectron(root: string, env: Environment, platform: NodeJS.Platform): string | null {
  const name = binaryNames[platform] ?? 'electron';
  const own = env['ELECTRON_OVERRIDE_DIST_PATH'] ?? '';
  if (own !== '' && existsSync(join(own, name))) return join(own, name);
  const installed = join(root, 'node_modules', 'electron');
  const binary = join(installed, 'dist', name);
  // The installer writes path.txt last: without it, what lies there may be half of an archive.
  return existsSync(join(installed, 'path.txt')) && existsSync(binary) ? binary : null;
}

export interface FetchOptions {
  readonly root: string;
  /** Where it is remembered that today's try is over. */
  readonly home: string;
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly nowMs: () => number;
  /** Told when a fetch begins, in one line. */
  readonly say: (line: string) => void;
}

/** The program, or why there is none. */
export type Fetched = { readonly binary: string } | { readonly why: string };

export async function findOrFetchElectron(options: FetchOptions): Promise<Fetched> {
  const { root, home, env, platform, nowMs, say } = options;
  const found = findElectron(root, env, platform);
  if (found !== null) return { binary: found };
  const installer = join(root, 'node_modules', 'electron', 'install.js');
  if (!existsSync(installer) || !mayFetch(env)) return { why: 'Electron is not installed' };
  const noteFile = join(home, 'run', 'electron-fetch.json');
  if (nowMs() - lastTryMs(noteFile) < DAY_MS) return { why: 'Electron could not be fetched today' };
  say(`Fetching Electron, which is done once (at most ${FETCH_WITHIN_MS / 1000} seconds).`);
  keepTry(noteFile, nowMs());
  await runInstaller(installer, env);
  const fetched = findElectron(root, env, platform);
  return fetched === null ? { why: 'Electron could not be fetched' } : { binary: fetched };
}

function mayFetch(env: Environment): boolean {
  return ['CI', 'VITEST', 'ELECTRON_SKIP_BINARY_DOWNLOAD'].every((name) => (env[name] ?? '') === '');
}

function lastTryMs(file: string): number {
  try {
    const { atMs } = JSON.parse(readFileSync(file, 'utf8')) as { atMs?: unknown };
    return typeof atMs === 'number' ? atMs : 0;
  } catch {
    // Never tried, or a note nobody can read: trying again costs a minute at most.
    return 0;
  }
}

function keepTry(file: string, atMs: number): void {
  try {
    makeFolders({ mkdirSync, statSync }, join(file, '..'));
    writeFileSync(file, JSON.stringify({ atMs }), { mode: 0o600 });
  } catch {
    // Not remembered, so the next start tries again.
  }
}

/** What the installer prints is for developers of Electron; whether the program is there afterwards is what counts. */
function runInstaller(installer: string, env: Environment): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [installer], {
      stdio: 'ignore',
      env: { ...env },
      timeout: FETCH_WITHIN_MS,
      killSignal: 'SIGKILL',
    });
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
}
