// The program's single browser: started on first use, closed when idle, stopped by the panic stop. Owns the tabs, what happened in them
// since the last call, and the guard that checks their requests. Makes no decision about calls.

import type { BrowserContext, Dialog, Download, Page, Request, Route } from 'playwright-core';
import { orAborted, settlesWithin, sleep } from '../../base/waits.ts';
import { AppError } from '../../contracts/errors.ts';
import { CheckingProxy, type CheckingProxyDeps } from './checking-proxy.ts';
import { launchBrowser, type LaunchPlan } from './launch.ts';
import { PageGuard, type PageGuardDeps, type PageRequest } from './page-guard.ts';
import type { PageView } from './page-view.ts';
import { RestlessPages } from './restless-pages.ts';
import type { Spine } from '../feature.ts';

export interface BrowserHostDeps extends Pick<Spine, 'later' | 'panic' | 'logger' | 'closing'> {
  readonly guard: PageGuardDeps;
  readonly proxy: CheckingProxyDeps;
  /** Plans the start of a browser. Fails with tool_failed if none is installed. */
  readonly plan: (proxy: string, headless: boolean) => LaunchPlan;
  readonly launch?: typeof launchBrowser;
}

export interface Happenings {
  readonly dialogs: readonly string[];
  readonly newTabs: readonly string[];
  readonly errors: readonly string[];
  readonly held: readonly string[];
}

interface Running {
  readonly context: BrowserContext;
  readonly proxy: CheckingProxy;
  readonly ended: PromiseWithResolvers<void>;
  /** The hosts that pages asked for. */
  readonly hosts: Set<string>;
}

const IDLE_MS = 10 * 60_000;
const NOTED_MAX = 10;
const QUIET_MS = 120;
const SETTLE_MS = 3_000;
const LOAD_MS = 30_000;
const TABS_MAX = 20;
const HOSTS_KEPT = 5_000;
const CLOSE_MS = 3_000;
const END_NEWS_MS = 200;
/** How long to wait for the end of the browser if the driver says that it was closed. */
const CLOSED_NEWS_MS = 3_000;

export class BrowserHost {
  readonly #deps: BrowserHostDeps;
  readonly #tabs = new Map<string, Page>();
  readonly #views = new WeakMap<Page, PageView>();
  readonly restless = new RestlessPages();
  /** Pages whose navigation was blocked. One that was still loading never finishes parsing. */
  readonly #kept = new WeakSet<Page>();
  /** True if the page was navigating repeatedly when the action began, like a page that resists being left. */
  wasRestless = false;
  readonly guard: PageGuard;
  #running: Running | null = null;
  #starting: Promise<Running> | null = null;
  #active: string | null = null;
  #tabCount = 0;
  #open = 0;
  #isBusy: Promise<unknown> = Promise.resolve();
  #stopIdle: () => void = () => undefined;
  #answersYes = false;
  #noted = nothingNoted();
  readonly downloads: Download[] = [];

  constructor(deps: BrowserHostDeps) {
    this.#deps = deps;
    this.guard = new PageGuard(deps.guard);
  }

  /** The tab that calls act on; null if none is open. */
  get page(): Page | null {
    return this.#active === null ? null : (this.#tabs.get(this.#active) ?? null);
  }

  /** The page as the agent last saw it. */
  get view(): PageView | null {
    const { page } = this;
    return page === null ? null : (this.#views.get(page) ?? null);
  }

  keep(page: Page, view: PageView): void {
    this.#views.set(page, view);
  }

  /** Runs one call at a time and starts the browser first. `permit` lists the hosts that the approved action may send to. */
  async use<T>(work: (page: Page) => Promise<T>, permit: readonly string[] | null, signal: AbortSignal): Promise<T> {
    const before = this.#isBusy;
    const done = Promise.withResolvers<void>();
    this.#isBusy = done.promise;
    try {
      await orAborted(before, signal, () => new AppError('cancelled', 'Waiting for the browser was ended.'));
      const running = await this.#start();
      const page = await this.#ensurePage();
      this.wasRestless = this.restless.has(page);
      this.restless.forget(page);
      this.guard.begin(permit);
      this.#answersYes = permit !== null;
      return await orAborted(
        this.#orEnded(work(page), running),
        signal,
        () => new AppError('cancelled', 'The work in the browser was ended.'),
      );
    } finally {
      done.resolve();
      this.#startIdle();
    }
  }

  async #orEnded<T>(work: Promise<T>, { ended }: Running): Promise<T> {
    const gone = ended.promise.then((): never => {
      throw endedError();
    });
    gone.catch(() => undefined);
    try {
      return await Promise.race([work, gone]);
    } catch (cause) {
      if (cause instanceof AppError && !saysClosed(cause)) throw cause;
      // The driver's call fails a moment before its event that the browser ended.
      await settlesWithin(ended.promise, saysClosed(cause) ? CLOSED_NEWS_MS : END_NEWS_MS);
      if (this.#running === null) throw endedError(cause);
      throw cause;
    }
  }

  tabs(): { id: string; url: string; isActive: boolean }[] {
    return [...this.#tabs].map(([id, page]) => ({ id, url: page.url(), isActive: id === this.#active }));
  }

  select(id: string): Page {
    const page = this.#tabs.get(id);
    if (page === undefined)
      throw new AppError('tool_failed', `There is no tab ${id}. Open tabs: ${[...this.#tabs.keys()].join(', ') || 'none'}.`);
    this.#active = id;
    return page;
  }

  async newTab(): Promise<Page> {
    const { context } = await this.#start();
    if (this.#tabs.size >= TABS_MAX) throw new AppError('tool_failed', `${TABS_MAX} tabs are open; close one first.`);
    const page = await context.newPage();
    this.#active = this.#idOf(page);
    this.#noted.newTabs = [];
    return page;
  }

  /** Returns the events since the last call and forgets them. */
  take(): Happenings {
    const held = [...this.guard.takeHeld(), ...(this.#running?.proxy.takeRefused(this.#running.hosts) ?? [])];
    const taken = { ...this.#noted, held: [...new Set(held)] };
    this.#noted = nothingNoted();
    return taken;
  }

  /** Goes to the address and waits until the page is parsed or its next navigation was blocked. */
  async goTo(page: Page, url: string): Promise<void> {
    const from = performance.now();
    await page.goto(url, { timeout: LOAD_MS, waitUntil: 'commit' });
    await this.#parsed(page, Math.max(1, LOAD_MS - (performance.now() - from)));
  }

  async #parsed(page: Page, timeout: number): Promise<void> {
    const kept = Promise.withResolvers<void>();
    const look = (): void => {
      if (this.#kept.has(page)) kept.resolve();
    };
    page.on('requestfailed', look);
    look();
    try {
      await Promise.race([kept.promise, page.waitForLoadState('domcontentloaded', { timeout })]);
    } finally {
      page.off('requestfailed', look);
    }
  }

  /** Waits until no request has been in flight for a moment. */
  async settle(page: Page, signal: AbortSignal): Promise<void> {
    const over = AbortSignal.any([signal, AbortSignal.timeout(SETTLE_MS)]);
    await this.#parsed(page, SETTLE_MS).catch(() => undefined);
    for (let quiet = false; !quiet && !over.aborted;) {
      await sleep(QUIET_MS, over);
      quiet = this.#open === 0;
    }
  }

  /** Opens a browser window for the person, until they close it. */
  async handOver(url: string, signal: AbortSignal): Promise<void> {
    await this.close();
    const { context, ended } = await this.#start(false);
    this.guard.handOver(true);
    try {
      const page = context.pages()[0] ?? (await context.newPage());
      if (url !== '') await page.goto(url, { waitUntil: 'commit' });
      await orAborted(ended.promise, signal, () => new AppError('cancelled', 'Waiting for the person was ended.'));
    } finally {
      this.guard.handOver(false);
      await this.close();
    }
  }

  async close(): Promise<void> {
    this.#stopIdle();
    const running = this.#running ?? (await this.#starting?.catch(() => null)) ?? null;
    this.#forget(running);
    if (running === null) return;
    await settlesWithin(
      running.context.close().catch(() => undefined),
      CLOSE_MS,
    );
    await running.proxy.dispose();
  }

  async #start(headless = true): Promise<Running> {
    const { panic, closing } = this.#deps;
    if (panic.engaged) throw new AppError('panic_engaged', 'Everything is stopped, so no browser starts.');
    if (closing.aborted) throw new AppError('cancelled', 'The program is closing.');
    if (this.#running !== null) return this.#running;
    this.#starting ??= this.#launch(headless).finally(() => {
      this.#starting = null;
    });
    return this.#starting;
  }

  async #launch(headless: boolean): Promise<Running> {
    const { panic, plan, proxy: ports, launch = launchBrowser, logger } = this.#deps;
    const proxy = await CheckingProxy.start(ports);
    try {
      const context = await launch(plan(proxy.url, headless));
      const running: Running = { context, proxy, ended: Promise.withResolvers(), hosts: new Set() };
      context.on('close', () => this.#ended(running));
      // The panic stop ends the processes. This only forgets the browser.
      panic.signal.addEventListener('abort', () => void this.close(), { once: true });
      context.on('page', (page) => this.#take(page));
      context.on('request', (request) => {
        this.#open += 1;
        if (running.hosts.size < HOSTS_KEPT) running.hosts.add(URL.parse(request.url())?.hostname ?? '');
      });
      const isOver = (): void => void (this.#open = Math.max(0, this.#open - 1));
      context.on('requestfinished', isOver).on('requestfailed', isOver);
      await context.route('**/*', (route) => this.#judge(route));
      for (const page of context.pages()) this.#take(page, false);
      if (panic.signal.aborted) throw new AppError('panic_engaged', 'Everything is stopped.');
      this.#running = running;
      return running;
    } catch (cause) {
      await proxy.dispose();
      logger.log('info', 'the browser did not start', { cause: String(cause) });
      throw cause;
    }
  }

  async #ensurePage(): Promise<Page> {
    const { page } = this;
    if (page !== null && !page.isClosed()) return page;
    const open = [...this.#tabs].at(-1);
    if (open === undefined) return this.newTab();
    this.#active = open[0];
    return open[1];
  }

  async #judge(route: Route): Promise<void> {
    const request = route.request();
    const { isPageNavigation, pageUrl, page } = placeOf(request);
    const reason = this.guard.refuse({
      url: request.url(),
      method: request.method(),
      resourceType: request.resourceType(),
      isPageNavigation,
      pageUrl,
    });
    if (reason !== null && isPageNavigation && page !== null) {
      this.#kept.add(page);
      this.restless.navigated(page);
    }
    // A page whose navigation is blocked stays as it is. It may be gone by now.
    const refusal = isPageNavigation ? 'aborted' : 'blockedbyclient';
    await (reason === null ? route.continue() : route.abort(refusal)).catch(() => undefined);
  }

  #idOf(page: Page): string {
    const known = [...this.#tabs].find(([, one]) => one === page)?.[0];
    if (known !== undefined) return known;
    this.#tabCount += 1;
    const id = `t${this.#tabCount}`;
    this.#tabs.set(id, page);
    return id;
  }

  #take(page: Page, isNews = true): void {
    const id = this.#idOf(page);
    if (this.#tabs.size > TABS_MAX) {
      this.#tabs.delete(id);
      void page.close().catch(() => undefined);
      return;
    }
    this.#active ??= id;
    if (isNews) this.#note('newTabs', id);
    page.on('close', () => {
      this.#tabs.delete(id);
      if (this.#active === id) this.#active = [...this.#tabs.keys()].at(-1) ?? null;
    });
    page.on('framenavigated', (frame) => {
      if (frame !== page.mainFrame()) return;
      this.#kept.delete(page);
      this.restless.navigated(page);
    });
    page.on('dialog', (dialog) => this.#answer(dialog));
    page.on('download', (download) => void (this.downloads.length < NOTED_MAX && this.downloads.push(download)));
    page.on('pageerror', (error) => this.#note('errors', error.message));
    page.on('console', (message) => message.type() === 'error' && this.#note('errors', message.text()));
  }

  /** Accepts a dialog of the page only if an approved action may have an effect. */
  #answer(dialog: Dialog): void {
    const kind = dialog.type();
    const yes = kind === 'alert' || kind === 'beforeunload' || this.#answersYes;
    this.#note('dialogs', `${kind} "${dialog.message().slice(0, 300)}" answered ${yes ? 'OK' : 'no'}`);
    void (yes ? dialog.accept(dialog.defaultValue()) : dialog.dismiss()).catch(() => undefined);
  }

  #note(kind: keyof ReturnType<typeof nothingNoted>, text: string): void {
    const list = this.#noted[kind];
    if (list.length < NOTED_MAX) list.push(text.replaceAll(/\s+/g, ' ').slice(0, 300));
  }

  #ended(running: Running): void {
    running.ended.resolve();
    this.#forget(running);
    void running.proxy.dispose();
  }

  #forget(running: Running | null): void {
    if (running !== null && this.#running !== running) return;
    this.#running = null;
    this.#tabs.clear();
    this.#active = null;
    this.#open = 0;
    this.downloads.length = 0;
  }

  #startIdle(): void {
    this.#stopIdle();
    if (this.#running !== null) this.#stopIdle = this.#deps.later(IDLE_MS, () => void this.close());
  }
}

function placeOf(request: Request): Pick<PageRequest, 'isPageNavigation' | 'pageUrl'> & { readonly page: Page | null } {
  try {
    const frame = request.frame();
    const page = frame.page();
    return { isPageNavigation: request.isNavigationRequest() && frame.parentFrame() === null, pageUrl: page.url(), page };
  } catch {
    // The first request of a new tab comes before its frame exists.
    return { isPageNavigation: true, pageUrl: '', page: null };
  }
}

function nothingNoted(): { dialogs: string[]; newTabs: string[]; errors: string[] } {
  return { dialogs: [], newTabs: [], errors: [] };
}

/** True for the driver's error, and for an error made from it. */
function saysClosed(cause: unknown): boolean {
  return cause instanceof Error && cause.message.includes('browser has been closed');
}

function endedError(cause?: unknown): AppError {
  return new AppError('tool_failed', 'The browser ended while it worked, and what it had open is gone. The next call starts it again.', {
    cause,
  });
}
