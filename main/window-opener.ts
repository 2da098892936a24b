// Opens the window in a browser: an installed Chromium as an app window, otherwise the default browser. Every user of the machine can read
// command lines, so they never contain the token: the browser gets a private file that redirects to the address.

import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findChromiums } from '../core/store/home/home.ts';
import { makeFolders } from '../core/base/make-folders.ts';
import { renameOver } from '../core/base/rename-over.ts';

/** A browser that fails within this time did not open anything. */
const failsWithinMs = 1_500;

export const noSandbox = '--no-sandbox';

export interface WindowAddress {
  readonly home: string;
  readonly url: string;
  readonly token: string;
}

export interface OpenerEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** True for the superuser on Linux, where Chromium starts only without its sandbox. */
  readonly isRoot: boolean;
}

interface Candidate {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

export function openerFilePath(home: string): string {
  return join(home, 'run', 'open.html');
}

/** Resolves to what opened the window; null if there is no display or no browser. */
export async function openWindow(
  { onNoSandbox, ...address }: WindowAddress & { readonly onNoSandbox: () => void },
  place: OpenerEnvironment,
): Promise<string | null> {
  if (place.platform === 'linux' && !hasDisplay(place.env)) return null;
  const page = pathToFileURL(writeOpenerFile(address)).href;
  for (const { name, command, args } of candidates(page, address.home, place)) {
    if (args.includes(noSandbox)) onNoSandbox();
    if (await starts(command, args)) return name;
  }
  rmSync(openerFilePath(address.home), { force: true });
  return null;
}

export function hasDisplay(env: OpenerEnvironment['env']): boolean {
  return (env['DISPLAY'] ?? '') !== '' || (env['WAYLAND_DISPLAY'] ?? '') !== '';
}

/** Writes a file readable by this person only; replaces it atomically. It is removed when the instance ends. */
export function writeOpenerFile({ home, url, token }: WindowAddress): string {
  const folder = join(home, 'run');
  makeFolders({ mkdirSync, statSync }, folder);
  chmodSync(folder, 0o700);
  const target = JSON.stringify(`${url}/#token=${token}`).replaceAll('<', '\\u003c');
  const file = openerFilePath(home);
  const temporary = `${file}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, `<!doctype html><meta charset="utf-8"><title>TrayClaw</title><script>location.replace(${target})</script>\n`, {
    mode: 0o600,
    flag: 'wx',
  });
  renameOver({ renameSync }, temporary, file);
  return file;
}

export function candidates(page: string, home: string, { env, platform, isRoot }: OpenerEnvironment): Candidate[] {
  const profile = join(home, 'run', 'browser');
  const appArgs = [
    `--app=${page}`,
    `--user-data-dir=${profile}`,
    '--no-first-run',
    '--no-default-browser-check',
    ...(isRoot ? [noSandbox] : []),
  ];
  const apps = [...findChromiums(env, platform)].map((command) => ({ name: 'an app window', command, args: appArgs }));
  return [...apps, { name: 'the default browser', ...defaultBrowser(page, platform) }];
}

function defaultBrowser(page: string, platform: NodeJS.Platform): { command: string; args: readonly string[] } {
  if (platform === 'darwin') return { command: 'open', args: [page] };
  if (platform === 'win32') return { command: 'rundll32', args: ['url.dll,FileProtocolHandler', page] };
  return { command: 'xdg-open', args: [page] };
}

function starts(command: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { detached: true, stdio: 'ignore' });
    const timer = setTimeout(() => finish(true), failsWithinMs);
    const finish = (isRunning: boolean): void => {
      clearTimeout(timer);
      resolve(isRunning);
    };
    child.once('error', () => finish(false));
    child.once('exit', (code) => finish(code === 0));
    child.unref();
  });
}
