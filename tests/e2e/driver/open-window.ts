// Opens the window in a real Chromium against a host, and names its parts by role as a person would.
// Watches for what must never happen: script errors, requests to other places, navigation away.

import { chromium, type Browser, type BrowserContextOptions, type Locator, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { startServedHost } from '../host/served-host.ts';
import type { HostOptions, WindowHost } from '../host/window-host.ts';

const launchArguments = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--site-per-process',
  '--disable-features=SpareRendererForSitePerProcess',
  '--enable-features=IsolateSandboxedIframes',
];

/** Shorter than a test may take, so that what is missing is named. */
const actionWithinMs = 30_000;

export interface OpenOptions extends HostOptions {
  readonly context?: BrowserContextOptions;
  /** Runs in the page before anything else, as source text. */
  readonly initScript?: string;
  /** Opens without the token in the address. */
  readonly withoutToken?: boolean;
}

export interface WindowUnderTest {
  readonly page: Page;
  readonly host: WindowHost;
  /** Script errors, refused policies and requests that left the host; empty in every spec. */
  readonly incidents: readonly string[];
  readonly message: Locator;
  readonly conversation: Locator;
  readonly approval: Locator;
  send(text: string): Promise<void>;
  go(
    view: 'Chat' | 'Activity' | 'Approvals' | 'Memory' | 'Schedules' | 'Agents' | 'Skills' | 'Artifacts' | 'Settings' | 'Health',
  ): Promise<void>;
  /** Opens the address that the running server printed, as a person would. */
  openAddress(): Promise<void>;
}

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: process.env['TRAYCLAW_CHROMIUM'] ?? '/usr/bin/chromium', args: launchArguments });
}

/** Closes itself, with its host, when the test that opened it is over. */
export async function openWindow(browser: Browser, options: OpenOptions = {}): Promise<WindowUnderTest> {
  const host = await startServedHost(options);
  onTestFinished(() => host.close());
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options.context });
  onTestFinished(() => context.close());
  context.setDefaultTimeout(actionWithinMs);
  const page = await context.newPage();
  const incidents = watch(page, host.origin);
  if (options.initScript !== undefined) await page.addInitScript(options.initScript);
  const openAddress = async (): Promise<void> => void (await page.goto(`${host.origin}/#token=${host.token}`));
  if (options.withoutToken) await page.goto(host.origin + '/');
  else await openAddress();
  const message = page.getByRole('textbox', { name: 'Message', exact: true });
  return {
    page,
    host,
    incidents,
    message,
    conversation: page.getByRole('log', { name: 'Conversation' }),
    approval: page.getByRole('group', { name: 'Approval needed' }),
    send: async (text) => {
      await message.fill(text);
      await message.press('Enter');
    },
    go: async (view) => {
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: view, exact: true }).click();
    },
    openAddress,
  };
}

function watch(page: Page, origin: string): string[] {
  const incidents: string[] = [];
  page.on('pageerror', (error) => incidents.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // A host that is away is expected in some specs; everything else on the console is not.
    if (
      message.type() === 'error' &&
      !/ERR_CONNECTION_(?:REFUSED|RESET)|ERR_INCOMPLETE|ERR_EMPTY_RESPONSE|status of (?:4\d\d|503)/.test(message.text())
    ) {
      incidents.push(`console: ${message.text()}`);
    }
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin + '/')) incidents.push(`request: ${request.url().slice(0, 200)}`);
  });
  page.on('framenavigated', (frame) => {
    if (!frame.url().startsWith(origin + '/') && frame.url() !== 'about:blank') incidents.push(`navigation: ${frame.url()}`);
  });
  page.on('popup', (popup) => incidents.push(`popup: ${popup.url()}`));
  page.on('dialog', (dialog) => {
    incidents.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return incidents;
}
