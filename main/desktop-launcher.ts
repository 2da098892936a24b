// Starts the tray app in Electron and waits for it to end. Returns the reason if it cannot be started; the caller decides how to continue.

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '../core/base/waits.ts';
import type { DesktopRun } from '../core/doors/cli/cli.ts';
import { quitFlag } from './desktop-flags.ts';
import { findOrFetchElectron, type FetchOptions } from './electron-binary.ts';
import { hasDisplay, noSandbox } from './window-opener.ts';

export interface LaunchOptions extends FetchOptions {
  /** Chromium refuses to run its sandbox as the superuser. */
  readonly isRoot: boolean;
  /** The executable of an installed app, which needs neither a separate Electron nor a script name. */
  readonly packaged: string | null;
  /** Called before Chromium starts without its sandbox. */
  readonly onNoSandbox: () => void;
  /** Registers a listener for a person's interrupt. Returns the function that removes it. */
  onInterrupt(listener: () => void): () => void;
}

/** A program that exits with 127, or is killed by a fault such as SIGSEGV, within this time counts as unable to run on this machine. */
const FAILS_WITHIN_MS = 5_000;
/** Long enough to close the log; a program that takes longer is killed. */
const ENDS_WITHIN_MS = 15_000;
/** The exit code of a shell or the loader for a missing program or library. */
const CODE_MISSING = 127;
const endedByPerson: ReadonlySet<string> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL']);

export async function launchDesktop(options: LaunchOptions): Promise<DesktopRun> {
  const { root, env, platform } = options;
  const script = join(root, 'dist', 'desktop.js');
  if (!existsSync(script)) return { kind: 'missing', why: 'this installation has no desktop app' };
  if (platform === 'linux' && !hasDisplay(env)) return { kind: 'missing', why: 'there is no display' };
  if (options.packaged !== null) return run(options.packaged, script, options);
  const fetched = await findOrFetchElectron(options);
  if ('why' in fetched) return { kind: 'missing', why: fetched.why };
  return run(fetched.binary, script, options);
}

export function desktopArguments(
  script: string,
  { home, isRoot, packaged }: Pick<LaunchOptions, 'home' | 'isRoot' | 'packaged'>,
): string[] {
  return [...(isRoot ? [noSandbox] : []), ...(packaged === null ? [script] : []), `--home=${home}`];
}

function run(binary: string, script: string, options: LaunchOptions): Promise<DesktopRun> {
  // If ELECTRON_RUN_AS_NODE is set, Electron runs as plain Node.
  const { ELECTRON_RUN_AS_NODE: _plain, ...env } = options.env;
  const startedMs = performance.now();
  if (options.isRoot) options.onNoSandbox();
  const child = spawn(binary, desktopArguments(script, options), { stdio: 'inherit', env });
  const ended = new AbortController();
  const stopListening = options.onInterrupt(() => void askToEnd(child, { binary, script, env, options, ended: ended.signal }));
  return new Promise((resolve) => {
    const finish = (ran: DesktopRun): void => {
      ended.abort();
      stopListening();
      resolve(ran);
    };
    const failed: DesktopRun = { kind: 'missing', why: 'Electron does not run on this machine' };
    child.once('error', () => finish(failed));
    child.once('exit', (code, signal) => {
      const isEarly = performance.now() - startedMs < FAILS_WITHIN_MS;
      const isFault = code === CODE_MISSING || (signal !== null && !endedByPerson.has(signal));
      if (isEarly && isFault) finish(failed);
      else finish({ kind: 'ended', code: code ?? 1 });
    });
  });
}

interface Asked {
  readonly binary: string;
  readonly script: string;
  readonly env: NodeJS.ProcessEnv;
  readonly options: LaunchOptions;
  readonly ended: AbortSignal;
}

/** Asks the program to end. Windows has no polite signal (SIGTERM kills at once), so a second start passes the request to the first one. */
async function askToEnd(child: ChildProcess, { binary, script, env, options, ended }: Asked): Promise<void> {
  if (options.platform !== 'win32') {
    child.kill('SIGTERM');
    return;
  }
  const second = spawn(binary, [...desktopArguments(script, options), quitFlag], { stdio: 'ignore', env, windowsHide: true });
  second.once('error', () => child.kill());
  if (await sleep(ENDS_WITHIN_MS, ended)) child.kill();
}
