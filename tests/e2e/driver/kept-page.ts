// Pages that one test leaves to the next of its file: a new one costs a process, which compiles the whole window again. Every host has its
// own origin, so nothing that a page stored is found again; the rest that a test can change is put back here, or the page is closed.

import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

export interface PageOptions {
  readonly context?: BrowserContextOptions;
  /** Runs in the page before anything else, as source text. */
  readonly initScript?: string;
}

export interface KeptPage {
  readonly page: Page;
  /** Takes the page back, while the host of the test still answers. */
  giveBack(origin: string): Promise<void>;
}

const usualViewport = { width: 1280, height: 800 };
const free = new WeakMap<Browser, Map<string, Page[]>>();

/** A page that was opened in the same way and is free, or a new one. */
export async function takePage(browser: Browser, { context = {}, initScript = '' }: PageOptions): Promise<KeptPage> {
  const options = { viewport: usualViewport, ...context };
  const pages = freePages(browser, JSON.stringify([options, initScript]));
  const page = pages.pop() ?? (await newPage(await browser.newContext(options), initScript));
  return {
    page,
    giveBack: async (origin) => {
      if (await isReset(page, origin, options)) pages.push(page);
      else await page.context().close();
    },
  };
}

function freePages(browser: Browser, key: string): Page[] {
  const byKey = free.get(browser) ?? new Map<string, Page[]>();
  free.set(browser, byKey);
  const pages = byKey.get(key) ?? [];
  byKey.set(key, pages);
  return pages;
}

async function newPage(context: BrowserContext, initScript: string): Promise<Page> {
  const page = await context.newPage();
  if (initScript !== '') await page.addInitScript(initScript);
  return page;
}

/** False where the page cannot be used again: it crashed, opened others, or its host is gone. */
async function isReset(page: Page, origin: string, options: BrowserContextOptions): Promise<boolean> {
  if (page.isClosed() || page.context().pages().length !== 1) return false;
  try {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    // A page of the same origin, which has nothing in it: an empty page would end the process.
    await page.goto(`${origin}/nothing`);
    await page.mouse.move(-1, -1);
    await page.emulateMedia({
      media: null,
      colorScheme: options.colorScheme ?? 'light',
      reducedMotion: options.reducedMotion ?? 'no-preference',
      forcedColors: options.forcedColors ?? 'none',
      contrast: options.contrast ?? 'no-preference',
    });
    await page.setViewportSize(options.viewport ?? usualViewport);
    return true;
  } catch {
    return false;
  }
}
