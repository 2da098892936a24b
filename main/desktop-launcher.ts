// Starts the tray app in Electron and waits for its end. Says why when there is none to start; what is done then is the caller's.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DesktopRun } from '../core/doors/cli/cli.ts';
import { findOrFetchElectron, type FetchOptions } from './electron-binary.ts';
import { hasDisplay } from './window-opener.ts';

export interface LaunchOptions extends FetchOptions {
  /** Chromium refuses to run its sandbox as the superuser. */
  readonly isRoot: boolean;
  /** A person wants it to end. Returns the function that stops listening. */
  onInterrupt(listener: () => void): () => void;
}

/** A program that dies of itself within this time never showed anything. */
const FAILS_WITHIN_MS = 5_000;
/** What a shell or the loader reports for a program or a library that is missing. */
const CODE_MISSING = 127;
const endedByPerson: ReadonlySet<string> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL']);

export async function launchDesktop(options: LaunchOptions): Promise<DesktopRun> {
  const { root, env, platform } = options;
  const script = join(root, 'dist', 'desktop.js');
  if (!existsSync(script)) return { kind: 'missing', why: 'this installation has no desktop app' };
  if (platform === 'linux' && !hasDisplay(env)) return { kind: 'missing', why: 'there is no display' };
  const fetched = await findOrFetchElectron(options);
  if ('why' in fetched) return { kind: 'missing', why: fetched.why };
  return run(fetched.binary, script, options);
}

export function desktopArguments(script: string, { home, isRoot }: Pick<LaunchOptions, 'home' | 'isRoot'>): string[] {
  return [...(isRoot ? ['--no-sandbox'] : []), script, `--home=${home}`];
}

function run(binary: string, script: string, options: LaunchOptions): Promise<DesktopRun> {
  // Set, this makes a plain Node of Electron.
  const { ELECTRON_RUN_AS_NODE: _plain, ...env } = options.env;
  const startedMs = performance.now();
  const child = spawn(binary, desktopArguments(script, options), { stdio: 'inherit', env });
  const stopListening = options.onInterrupt(() => child.kill('SIGTERM'));
  return new Promise((resolve) => {
    const finish = (ran: DesktopRun): void => {
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
