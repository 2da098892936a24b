// Pages that are reused by later tests of the same and other files: a new page costs a process, which compiles the whole window again. A
// page also keeps its address, so that its compiled code is found again. Everything a test can change is reset here, or else the page is
// closed.

import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { freePort, isPortFree } from '../../free-port.ts';

export interface PageOptions {
  readonly context?: BrowserContextOptions;
  /** Source text that runs in the page before anything else. */
  readonly initScript?: string;
}

export interface KeptPage {
  readonly page: Page;
  /** The port on which its host must listen. */
  readonly port: number;
  /** Returns the page to the pool, while the test's host still answers. */
  giveBack(origin: string): Promise<void>;
}

interface FreePage {
  readonly key: string;
  readonly page: Page;
  readonly port: number;
}

/** Without motion: while something moves, the whole window is drawn again for each frame. The specs of motion ask for it. */
const usual = {
  viewport: { width: 1280, height: 800 },
  colorScheme: 'light',
  reducedMotion: 'reduce',
  forcedColors: 'none',
  contrast: 'no-preference',
} as const;
/** Each free page is a process. */
const FREE_MAX = 4;
/** The most recently returned page is last. */
const freePages = new WeakMap<Browser, FreePage[]>();

/** The options that a page keeps: `resetPage` sets the usual ones. */
export function lastingOf(context: BrowserContextOptions = {}): BrowserContextOptions {
  return Object.fromEntries(Object.entries(context).filter(([name]) => !(name in usual)));
}

/** Takes a free page whose lasting options are the same, or opens a new one. */
export async function takePage(browser: Browser, { context = {}, initScript = '' }: PageOptions): Promise<KeptPage> {
  const options: BrowserContextOptions = { ...usual, ...context };
  const key = JSON.stringify([lastingOf(context), initScript]);
  const { page, port } = (await takeFree(browser, key)) ?? {
    page: await newPage(await browser.newContext(options), initScript),
    port: await freePort(),
  };
  await resetPage(page, options);
  return {
    page,
    port,
    giveBack: async (origin) => {
      if (await isReset(page, origin, options)) await keep(browser, { key, page, port });
      else await page.context().close();
    },
  };
}

/** Closes everything the tests of a file left open, except the free pages. */
export async function closeOthers(browser: Browser): Promise<void> {
  const kept = new Set(freePages.get(browser)?.map(({ page }) => page.context()));
  for (const context of browser.contexts()) if (!kept.has(context)) await context.close();
}

/** Takes a free page. Its port may be in use by now; then the page is discarded. */
async function takeFree(browser: Browser, key: string): Promise<FreePage | null> {
  const free = freePages.get(browser) ?? [];
  const at = free.findLastIndex((one) => one.key === key);
  const [found] = at < 0 ? [] : free.splice(at, 1);
  if (found === undefined) return null;
  if (!found.page.isClosed() && (await isPortFree(found.port))) return found;
  await found.page.context().close();
  return takeFree(browser, key);
}

async function keep(browser: Browser, one: FreePage): Promise<void> {
  const free = freePages.get(browser) ?? [];
  freePages.set(browser, free);
  free.push(one);
  if (free.length > FREE_MAX) await free.shift()?.page.context().close();
}

async function newPage(context: BrowserContext, initScript: string): Promise<Page> {
  const page = await context.newPage();
  if (initScript !== '') await page.addInitScript(initScript);
  return page;
}

/** Resets the page. False if it cannot be reused: it crashed, opened others, or its host is gone. */
async function isReset(page: Page, origin: string, options: BrowserContextOptions): Promise<boolean> {
  if (page.isClosed() || page.context().pages().length !== 1) return false;
  try {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    // An empty page of the same origin: about:blank would end the process.
    await page.goto(`${origin}/nothing`);
    await page.evaluate('localStorage.clear(); sessionStorage.clear()');
    await page.evaluate(`new Promise((done) => (indexedDB.deleteDatabase('trayclaw').onsuccess = done)).then(() => undefined)`);
    await page.context().clearCookies();
    await resetPage(page, options);
    return true;
  } catch {
    return false;
  }
}

/** Resets what a test can change around the document. */
export async function resetPage(page: Page, context: BrowserContextOptions = {}): Promise<void> {
  const { viewport, colorScheme, reducedMotion, forcedColors, contrast } = { ...usual, ...context };
  await page.mouse.move(-1, -1);
  await page.emulateMedia({ media: null, colorScheme, reducedMotion, forcedColors, contrast });
  if (viewport !== null) await page.setViewportSize(viewport);
}
