// Finds Electron's program on this machine, or fetches it with Electron's own installer: at most once a day, for as long as something comes, and
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
/** Without a byte for so long, nothing comes any more. */
const SILENT_MS_MAX = 60_000;
const STEP_PERCENT = 10;
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
  /** How long a fetch may bring nothing; a minute when left out. */
  readonly silentMsMax?: number;
  /** Told how a fetch begins, gets on and ends, in lines. */
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
  say(`Fetching Electron from ${sourceOf(env)}, which is done once.`);
  keepTry(noteFile, nowMs());
  const isSilent = await runInstaller(installer, options);
  const fetched = findElectron(root, env, platform);
  if (fetched !== null) {
    say('Electron is there.');
    return { binary: fetched };
  }
  return { why: isSilent ? 'Electron could not be fetched, because nothing more came of it' : 'Electron could not be fetched' };
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

function sourceOf(env: Environment): string {
  const mirror = env['ELECTRON_MIRROR'] ?? '';
  return URL.canParse(mirror) ? new URL(mirror).host : 'github.com';
}

/**
 * Loaded before the installer, whose own bar is for terminals and comes after half a minute: tells this process, twice a second at most, how
 * much of what it fetches has come.
 */
const teller = `
  const own = globalThis.fetch;
  globalThis.fetch = async (...args) => {
    process.send({ got: 0, total: 0 });
    const { body, headers, status, statusText } = await own(...args);
    const total = Number(headers.get('content-length') ?? 0);
    let got = 0, toldMs = 0;
    const transform = (chunk, next) => {
      got += chunk.byteLength;
      if (performance.now() - toldMs > 500 || got === total) {
        toldMs = performance.now();
        process.send({ got, total });
      }
      next.enqueue(chunk);
    };
    return new Response(body?.pipeThrough(new TransformStream({ transform })) ?? null, { headers, status, statusText });
  };`;

/** What the installer prints is for developers of Electron; whether the program is there afterwards is what counts. True when it fell silent. */
function runInstaller(installer: string, { env, say, silentMsMax = SILENT_MS_MAX }: FetchOptions): Promise<boolean> {
  return new Promise((resolve) => {
    const before = `data:text/javascript,${encodeURIComponent(teller)}`;
    const child = spawn(process.execPath, ['--import', before, installer], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: { ...env },
    });
    let isSilent = false;
    let got = -1;
    let saidPercent = -1;
    let giveUp: NodeJS.Timeout | undefined;
    const waitFor = (ms: number): void => {
      clearTimeout(giveUp);
      giveUp = setTimeout(() => {
        isSilent = true;
        child.kill('SIGKILL');
      }, ms);
    };
    // To begin takes a busy machine longer than a line takes to be silent.
    waitFor(SILENT_MS_MAX);
    child.on('message', (told: Progress) => {
      if (told.got !== got) waitFor(silentMsMax);
      got = told.got;
      const percent = told.total > 0 ? Math.floor((100 * got) / told.total / STEP_PERCENT) * STEP_PERCENT : -1;
      if (percent > saidPercent) say(`Electron: ${percent} % of ${(told.total / 1e6).toFixed(0)} MB`);
      saidPercent = Math.max(saidPercent, percent);
    });
    const end = (): void => {
      clearTimeout(giveUp);
      resolve(isSilent);
    };
    child.once('error', end);
    child.once('exit', end);
  });
}

interface Progress {
  readonly got: number;
  readonly total: number;
}
