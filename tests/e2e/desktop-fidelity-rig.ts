// A small app on the desktop driver, for specs of Electron's own behaviour, which the stand-in must match.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DesktopDriver } from '../electron/driver/desktop-driver.ts';
import { openDesktop } from '../electron/driver/open-desktop.ts';

const main = fileURLToPath(new URL('../electron/fixtures/probe-main.mjs', import.meta.url));
export const probePreload = fileURLToPath(new URL('../electron/fixtures/probe-preload.cjs', import.meta.url));

export class Probe {
  readonly home: string;
  readonly driver: DesktopDriver;

  private constructor(home: string, driver: DesktopDriver) {
    this.home = home;
    this.driver = driver;
  }

  /** Resolves when the app is ready. */
  static async start(...args: string[]): Promise<Probe> {
    const home = mkdtempSync(join(tmpdir(), 'tcp-'));
    const probe = new Probe(home, await openDesktop({ home, main, args }));
    await probe.driver.evaluate(({ app }) => app.whenReady(), null);
    return probe;
  }

  /** The events that the app recorded. */
  get events(): string[] {
    return readFileSync(join(this.home, 'events.log'), 'utf8').trim().split('\n');
  }

  /** Events since the app was ready. */
  get eventsSinceReady(): string[] {
    const { events } = this;
    return events.slice(events.indexOf('when ready') + 1);
  }

  async close(): Promise<void> {
    await this.driver.kill();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}
