// One Chromium for all windows of the stand-in, started with the first window, with a port through which the test inspects the same pages.

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext } from 'playwright-core';

const START_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 20;

export interface RunningChromium {
  readonly browser: Browser;
  readonly context: BrowserContext;
  /** The address at which another client can connect to the same browser. */
  readonly address: string;
  close(): Promise<void>;
}

export function startChromium(profile: string): Promise<RunningChromium> {
  const portFile = join(profile, 'DevToolsActivePort');
  rmSync(portFile, { force: true });
  const args = [
    ...(process.env['TRAYCLAW_SHOWN'] === '1' ? [] : ['--headless=new']),
    '--no-sandbox',
    '--remote-debugging-port=0',
    // The browser exits when this pipe closes, however the app ended: a spec that kills the app leaves no browser behind.
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    '--no-first-run',
    '--no-default-browser-check',
    '--disable-gpu',
    '--disable-quic',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    // Features of a full browser that an app's pages do not have; each slows the start.
    '--disable-extensions',
    '--disable-component-extensions-with-background-pages',
    '--disable-default-apps',
    '--disable-breakpad',
    '--metrics-recording-only',
    '--no-pings',
    '--disable-features=Translate,MediaRouter',
    '--password-store=basic',
    'about:blank',
  ];
  const child = spawn(process.env['TRAYCLAW_CHROMIUM'] ?? '/usr/bin/chromium', args, {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  for (const pipe of child.stdio) pipe?.on('error', () => undefined); // The browser may exit first.
  return connect(child, portFile);
}

async function connect(child: ChildProcess, portFile: string): Promise<RunningChromium> {
  const address = `http://127.0.0.1:${await readPort(portFile, child)}`;
  const browser = await chromium.connectOverCDP(address);
  const context = browser.contexts()[0];
  if (context === undefined) throw new Error('the browser has no context');
  return {
    browser,
    context,
    address,
    close: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      await browser.close().catch(() => undefined);
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function readPort(file: string, child: ChildProcess): Promise<string> {
  const deadlineMs = performance.now() + START_WITHIN_MS;
  while (performance.now() < deadlineMs) {
    if (child.exitCode !== null) throw new Error(`Chromium ended with ${child.exitCode}.`);
    const [port] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    if (port !== undefined && port !== '') return port;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  throw new Error('Chromium did not start in time.');
}
