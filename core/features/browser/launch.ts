// Finds a Chromium-based browser and starts it with a separate profile, so that the checking proxy is its only way to the network. Knows
// nothing about pages or tools.

import { existsSync, mkdirSync, statSync } from 'node:fs';
import type { BrowserContext, BrowserType, Selectors } from 'playwright-core';
import { makeFolders } from '../../base/make-folders.ts';
import { AppError } from '../../contracts/errors.ts';
import { findChromiums, loadAddedPackage } from '../../store/home/home.ts';
import { describingEngine } from './element-form.ts';
import { withoutSideWays } from './page-guard.ts';

export interface LaunchPlan {
  /** The data folder, where the driver may be installed. */
  readonly home: string;
  readonly executable: string;
  readonly profile: string;
  readonly proxy: string;
  readonly headless: boolean;
  /** The whole environment, with the markers by which the panic stop finds the browser's processes. */
  readonly environment: Readonly<Record<string, string>>;
}

const LAUNCH_MS = 30_000;
const VIEW = { width: 1280, height: 800 };

/** The path of the browser to use; null if there is none. */
export function findBrowser(given: string | undefined, environment: Readonly<Record<string, string | undefined>>): string | null {
  if (given !== undefined) return existsSync(given) ? given : null;
  return findChromiums(environment, process.platform).next().value ?? null;
}

/** The version that the tests use. */
const DRIVER = { name: 'playwright-core', version: '1.65.1' };

/** The driver is large, so it is loaded on first use. A checkout includes it; otherwise a person installs it. */
export async function launchBrowser(plan: LaunchPlan): Promise<BrowserContext> {
  const loaded = await loadAddedPackage({ home: plan.home, ...DRIVER, besides: import.meta.url });
  const { chromium, selectors } = driverIn(loaded);
  if (!prepared.has(selectors)) {
    prepared.add(selectors);
    await selectors.register(describingEngine.name, { content: describingEngine.source }, { contentScript: true });
  }
  makeFolders({ mkdirSync, statSync }, plan.profile);
  try {
    const context = await chromium.launchPersistentContext(plan.profile, {
      executablePath: plan.executable,
      headless: plan.headless,
      proxy: { server: plan.proxy, bypass: '<-loopback>' },
      env: { ...plan.environment },
      // Root cannot use the browser's sandbox on Linux.
      chromiumSandbox: process.getuid?.() !== 0,
      viewport: plan.headless ? VIEW : null,
      acceptDownloads: true,
      serviceWorkers: 'block',
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      timeout: LAUNCH_MS,
      // Two limits that browsers have and the driver takes away: without the first, a page that navigates all the time keeps the whole
      // browser busy for minutes; without the second, a page opens as many tabs as it likes.
      ignoreDefaultArgs: ['--disable-ipc-flooding-protection', '--disable-popup-blocking'],
      args: [
        '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
        '--disable-quic',
        '--webrtc-ip-handling-policy=disable_non_proxied_udp',
        '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
        '--no-pings',
        '--dns-prefetch-disable',
      ],
    });
    await context.addInitScript(withoutSideWays);
    return context;
  } catch (cause) {
    const line = (cause instanceof Error ? cause.message : String(cause)).split('\n')[0]?.slice(0, 300) ?? '';
    throw new AppError('tool_failed', `The browser ${plan.executable} could not be started: ${line}`, {
      cause,
      hint: 'Start it once by hand to see why, or name another in browser.executable.',
    });
  }
}

interface Driver {
  readonly chromium: BrowserType;
  readonly selectors: Selectors;
}

/** A driver accepts each selector engine only once. */
const prepared = new WeakSet<Selectors>();

/** The package is CommonJS, so its exports are also under `default`. */
function driverIn(loaded: object): Driver {
  const { default: whole, ...named } = loaded as Partial<Driver> & { default?: Partial<Driver> };
  const { chromium, selectors } = { ...whole, ...named };
  if (chromium === undefined || selectors === undefined)
    throw new AppError('invalid_config', 'The package playwright-core drives no Chromium.');
  return { chromium, selectors };
}
