// Opens the window in a real Chromium against a host, and names its parts by role as a person would. Detects what must never happen: script
// errors, requests to other places, navigation away.

import {
  chromium,
  type Browser,
  type ConsoleMessage,
  type Dialog,
  type Frame,
  type Locator,
  type Page,
  type Request,
} from 'playwright-core';
import { expect, onTestFailed, onTestFinished } from 'vitest';
import type { ViewName } from '../../../core/contracts/views.ts';
import { frame } from '../../../renderer/lib/i18n/english/frame.ts';
import { earlierSessionId } from '../host/earlier-turns.ts';
import { startServedHost } from '../host/served-host.ts';
import type { HostOptions, WindowHost } from '../host/window-host.ts';
import { closeOthers, lastingOf, resetPage, takePage, type PageOptions } from './kept-page.ts';

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

/**
 * Shorter than a test's timeout, so that the missing element is reported. Not a speed requirement: a busy machine is slow with a large
 * page.
 */
const actionWithinMs = 60_000;

export interface OpenOptions extends HostOptions, PageOptions {
  /** Opens without the token in the address. */
  readonly withoutToken?: boolean;
}

export interface WindowUnderTest {
  readonly page: Page;
  readonly host: WindowHost;
  /** Script errors, policy violations and requests to other hosts. Must be empty in every spec. */
  readonly incidents: readonly string[];
  readonly message: Locator;
  readonly conversation: Locator;
  readonly approval: Locator;
  /** The line of the newest turn; it opens to figures and links. */
  readonly details: Locator;
  send(text: string): Promise<void>;
  go(view: Capitalize<ViewName>): Promise<void>;
  /** Opens the address that the running server printed, as a person would. */
  openAddress(): Promise<void>;
}

let running: Browser | undefined;
/** The windows that specs of the running file share, by their options. */
const shared = new Map<string, Opened>();

interface Opened {
  readonly window: WindowUnderTest;
  readonly close: () => Promise<void>;
}

/** The browser of this worker. The files that the worker runs share it and its pages. */
export async function launchBrowser(): Promise<Browser> {
  if (running?.isConnected() === true) return running;
  const browser = await chromium.launch({
    executablePath: process.env['TRAYCLAW_CHROMIUM'] ?? '/usr/bin/chromium',
    args: launchArguments,
    // Limits of a real browser that the driver takes away.
    ignoreDefaultArgs: ['--disable-ipc-flooding-protection', '--disable-popup-blocking'],
    // A signal kills the worker at once, and the closed pipe ends the browser.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  browser.close = async () => {
    for (const { close } of shared.values()) await close();
    shared.clear();
    await closeOthers(browser);
  };
  return (running = browser);
}

/** The host closes at the end of the test, and the page is given to the next test. */
export async function openWindow(browser: Browser, options: OpenOptions = {}): Promise<WindowUnderTest> {
  const { window, close } = await open(browser, options);
  onTestFinished(close);
  return window;
}

/**
 * A window that earlier specs of the file may have used, at an empty session or, with `historyTurns`, at the earlier one: opening a window
 * is much of the work of a short spec. Specs that change more than their session use `openWindow`.
 */
export async function openSession(
  browser: Browser,
  { replies = [], ...options }: Omit<OpenOptions, 'before' | 'withoutToken'> = {},
): Promise<WindowUnderTest> {
  const key = JSON.stringify({ ...options, context: lastingOf(options.context) });
  const used = shared.get(key);
  const opened = used ?? (await open(browser, options));
  shared.set(key, opened);
  // A failed spec may leave anything behind.
  onTestFailed(async () => {
    shared.delete(key);
    await opened.close();
  });
  opened.window.host.reply(replies);
  if (used !== undefined) await goToSession(opened.window, options);
  return opened.window;
}

async function goToSession({ page, host, incidents }: WindowUnderTest, { context, historyTurns }: OpenOptions): Promise<void> {
  expect({ earlier: incidents }).toEqual({ earlier: [] });
  const { approvals } = (await host.op('approval.list', {})) as { approvals: { turnId: string }[] };
  for (const turnId of new Set(approvals.map((approval) => approval.turnId))) await host.op('turn.cancel', { turnId });
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await resetPage(page, context);
  const made = historyTurns === undefined ? await host.op('session.create', {}) : { sessionId: earlierSessionId };
  await page.evaluate(`location.hash = '#/chat/${(made as { sessionId: string }).sessionId}'`);
  await page
    .getByText(historyTurns === undefined ? 'What can I do for you?' : `Answer ${historyTurns}.`)
    .first()
    .waitFor();
}

async function open(browser: Browser, options: OpenOptions): Promise<Opened> {
  const kept = await takePage(browser, options);
  const host = await startServedHost(options, kept.port);
  const { page } = kept;
  page.setDefaultTimeout(actionWithinMs);
  const watched = watch(page, host.origin);
  const close = async (): Promise<void> => {
    watched.stop();
    await kept.giveBack(host.origin);
    await host.close();
  };
  const openAddress = async (): Promise<void> => void (await page.goto(`${host.origin}/#token=${host.token}`));
  try {
    if (options.withoutToken) await page.goto(host.origin + '/');
    else await openAddress();
  } catch (cause) {
    await close();
    throw cause;
  }
  return { window: windowOf({ page, host, incidents: watched.incidents, openAddress }), close };
}

function windowOf(parts: Pick<WindowUnderTest, 'page' | 'host' | 'incidents' | 'openAddress'>): WindowUnderTest {
  const { page } = parts;
  const message = page.getByRole('textbox', { name: 'Message', exact: true });
  return {
    ...parts,
    message,
    conversation: page.getByRole('log', { name: 'Conversation' }),
    approval: page.getByRole('group', { name: 'Approval needed' }),
    details: page.getByRole('button', { name: /Details of this turn$/ }).last(),
    send: async (text) => {
      await message.fill(text);
      await message.press('Enter');
    },
    go: async (view) => {
      const name = frame.views[view.toLowerCase() as ViewName];
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
    },
  };
}

function watch(page: Page, origin: string): { readonly incidents: string[]; stop(): void } {
  const incidents: string[] = [];
  const onConsole = (message: ConsoleMessage): void => {
    // Some specs stop the host on purpose, and a request may then meet a connection that has just gone; any other console error counts.
    if (
      message.type() === 'error' &&
      !/ERR_CONNECTION_(?:REFUSED|RESET|CLOSED)|ERR_SOCKET_NOT_CONNECTED|ERR_INCOMPLETE|ERR_EMPTY_RESPONSE|status of (?:4\d\d|503)/.test(
        message.text(),
      )
    ) {
      incidents.push(`console: ${message.text()}`);
    }
  };
  const onError = (error: Error): void => void incidents.push(`error: ${error.message}`);
  const onRequest = (request: Request): void => {
    if (!request.url().startsWith(origin + '/')) incidents.push(`request: ${request.url().slice(0, 200)}`);
  };
  const onNavigation = (shown: Frame): void => {
    if (!shown.url().startsWith(origin + '/') && shown.url() !== 'about:blank') incidents.push(`navigation: ${shown.url()}`);
  };
  const onPopup = (popup: Page): void => void incidents.push(`popup: ${popup.url()}`);
  const onDialog = (dialog: Dialog): void => {
    incidents.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  };
  page.on('pageerror', onError).on('console', onConsole).on('request', onRequest);
  page.on('framenavigated', onNavigation).on('popup', onPopup).on('dialog', onDialog);
  const stop = (): void => {
    page.off('pageerror', onError).off('console', onConsole).off('request', onRequest);
    page.off('framenavigated', onNavigation).off('popup', onPopup).off('dialog', onDialog);
  };
  return { incidents, stop };
}
