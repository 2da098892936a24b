// Finds Electron's program on this machine, or downloads it with Electron's own installer as long as data keeps arriving. A start of the
// app tries the download at most once a day, and never in a test run or on a build server. Starts no Electron itself.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolders } from '../core/base/make-folders.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const binaryNames: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  win32: 'electron.exe',
  darwin: 'Electron.app/Contents/MacOS/Electron',
};
/** A download that receives nothing for this long is abandoned. */
const SILENT_MS_MAX = 60_000;
const STEP_PERCENT = 10;
/** Maximum length of the reason, which is the first line of the installer's error text. */
const REASON_CHARS_MAX = 200;
const DAY_MS = 86_400_000;

export interface Electron {
  readonly binary: string;
  /** The unpacked folder that contains the program. */
  readonly folder: string;
}

export function findElectron(root: string, env: Environment, platform: NodeJS.Platform): Electron | null {
  const name = binaryNames[platform] ?? 'electron';
  const own = env['ELECTRON_OVERRIDE_DIST_PATH'] ?? '';
  if (own !== '' && existsSync(join(own, name))) return { binary: join(own, name), folder: own };
  const installed = join(root, 'node_modules', 'electron');
  const folder = join(installed, 'dist');
  // The installer writes path.txt last: without it, the folder may hold half of an archive.
  return existsSync(join(installed, 'path.txt')) && existsSync(join(folder, name)) ? { binary: join(folder, name), folder } : null;
}

export interface BringOptions {
  readonly root: string;
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  /** How long a download may receive nothing; defaults to a minute. */
  readonly silentMsMax?: number;
  /** Receives progress lines: start, percentage and end of a download. */
  readonly say: (line: string) => void;
}

export interface FetchOptions extends BringOptions {
  /** The data folder; stores when the last download was tried. */
  readonly home: string;
  readonly nowMs: () => number;
}

/** The program, or the reason why there is none. */
export type Fetched = Electron | { readonly why: string };

export async function findOrFetchElectron(options: FetchOptions): Promise<Fetched> {
  const { root, home, env, platform, nowMs } = options;
  const found = findElectron(root, env, platform);
  if (found !== null) return found;
  if (!existsSync(installerOf(root)) || !mayFetch(env)) return { why: 'Electron is not installed' };
  const noteFile = join(home, 'run', 'electron-fetch.json');
  if (nowMs() - lastTryMs(noteFile) < DAY_MS) return { why: 'Electron could not be fetched today' };
  keepTry(noteFile, nowMs());
  return bringElectron(options);
}

/** Downloads without a once-a-day limit and without an overall timeout: for a person who requested it. */
export async function bringElectron(options: BringOptions): Promise<Fetched> {
  const { root, env, platform, say } = options;
  const found = findElectron(root, env, platform);
  if (found !== null) return found;
  if (!existsSync(installerOf(root))) return { why: 'Electron is not installed' };
  say(`Fetching Electron from ${sourceOf(env)}, which is done once.`);
  const startedMs = performance.now();
  const reason = await runInstaller(options, () => secondsSince(startedMs));
  const fetched = findElectron(root, env, platform);
  if (fetched === null) return { why: `Electron could not be fetched${reason}` };
  say(`Electron is there, after ${secondsSince(startedMs)}.`);
  return fetched;
}

function installerOf(root: string): string {
  return join(root, 'node_modules', 'electron', 'install.js');
}

function secondsSince(startedMs: number): string {
  return `${Math.round((performance.now() - startedMs) / 1000)} s`;
}

function mayFetch(env: Environment): boolean {
  return ['CI', 'VITEST', 'ELECTRON_SKIP_BINARY_DOWNLOAD'].every((name) => (env[name] ?? '') === '');
}

function lastTryMs(file: string): number {
  try {
    const { atMs } = JSON.parse(readFileSync(file, 'utf8')) as { atMs?: unknown };
    return typeof atMs === 'number' ? atMs : 0;
  } catch {
    // No earlier try, or an unreadable note: trying again costs a minute at most.
    return 0;
  }
}

function keepTry(file: string, atMs: number): void {
  try {
    makeFolders({ mkdirSync, statSync }, join(file, '..'));
    writeFileSync(file, JSON.stringify({ atMs }), { mode: 0o600 });
  } catch {
    // If the time cannot be stored, the next start simply tries again.
  }
}

function sourceOf(env: Environment): string {
  const mirror = env['ELECTRON_MIRROR'] ?? '';
  return URL.canParse(mirror) ? new URL(mirror).host : 'github.com';
}

/**
 * A script loaded before the installer: reports to this process, at most twice a second, how much has been downloaded. The installer's own
 * progress bar works only in terminals and appears after half a minute.
 */
const teller = `
  const own = globalThis.fetch;
  globalThis.fetch = async (...args) => {
    process.send({ got: 0, total: 0 });
    const answer = await own(...args).catch((failure) => { throw failure.cause ?? failure; });
    const { body, headers, status, statusText } = answer;
    const total = Number(headers.get('content-length') ?? 0);
    let got = 0, toldMs = -Infinity;
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

/**
 * Resolves to the reason of a failure, phrased as the end of a sentence. Whether it succeeded is decided by whether the program exists
 * afterwards.
 */
function runInstaller({ root, env, say, silentMsMax = SILENT_MS_MAX }: BringOptions, elapsed: () => string): Promise<string> {
  return new Promise((resolve) => {
    const before = `data:text/javascript,${encodeURIComponent(teller)}`;
    const child = spawn(process.execPath, ['--import', before, installerOf(root)], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: { ...env },
    });
    let isSilent = false;
    let errors = '';
    child.stderr?.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(0, REASON_CHARS_MAX)));
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
    // On a busy machine, starting takes longer than the allowed silence, so the first wait is longer.
    waitFor(SILENT_MS_MAX);
    child.on('message', (told: Progress) => {
      if (told.got !== got) waitFor(silentMsMax);
      got = told.got;
      const percent = told.total > 0 ? Math.floor((100 * got) / told.total / STEP_PERCENT) * STEP_PERCENT : -1;
      if (percent > saidPercent) say(`Electron: ${percent} % of ${(told.total / 1e6).toFixed(0)} MB, ${elapsed()}`);
      saidPercent = Math.max(saidPercent, percent);
    });
    const end = (): void => {
      clearTimeout(giveUp);
      const [line = ''] = errors.trim().split('\n');
      const told = line === '' ? '' : ` (${line.replace(/^\w*Error: /, '')})`;
      resolve(isSilent ? ', because nothing more came of it' : told);
    };
    child.once('error', end);
    child.once('close', end);
  });
}

interface Progress {
  readonly got: number;
  readonly total: number;
}
