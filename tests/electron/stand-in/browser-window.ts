// BrowserWindow, WebContents and WebFrameMain over a page of a real Chromium. What a page may do is what Chromium lets it do; what the
// shell is told, and in which order, follows Electron's documentation.

import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import type { BrowserWindowConstructorOptions, IpcMainEvent, IpcMainInvokeEvent, Rectangle } from 'electron';
import type { CDPSession, Page } from 'playwright-core';
import { appAddress, browserAddress } from './protocol.ts';
import { encodeOr, invokeMain, sendMain, type Reply } from './ipc-main.ts';
import { lifecycle, needsReady } from './lifecycle.ts';
import { pageWorldSource, preloadWorldSource } from './worlds.ts';

const WORLD = 'preload';

export const windows = new Set<BrowserWindow>();
export const created = new EventEmitter();
/** Set once the browser runs. */
export const pages: { open: (() => Promise<Page>) | null } = { open: null };

/** Who a message of a test says it comes from. */
export interface ForeignSender {
  readonly url: string;
  readonly isTopFrame: boolean;
  readonly isOwn: boolean;
  /** "May be null if accessed after the frame has either navigated or been destroyed." */
  readonly isGone?: boolean;
}

interface Frame {
  readonly url: string;
  readonly parent: Frame | null;
}

type OpenHandler = (details: { url: string; disposition: string; frameName: string; features: string }) => { action: 'deny' | 'allow' };

export class WebContents extends EventEmitter {
  readonly id: number;
  readonly #preload: string | null;
  readonly mainFrame: Frame & { url: string };
  #page: Page | null = null;
  #size: { width: number; height: number };
  #visibility: 'visible' | 'hidden';
  #session: CDPSession | null = null;
  #world: number | null = null;
  #isDestroyed = false;
  #openHandler: OpenHandler = () => ({ action: 'allow' });
  #opened: Promise<void>;
  #hasCrashed = false;
  static #lastId = 0;

  constructor(options: BrowserWindowConstructorOptions) {
    super();
    this.id = WebContents.#lastId += 1;
    this.#preload = options.webPreferences?.preload ?? null;
    this.#size = { width: options.width ?? 800, height: options.height ?? 600 };
    this.#visibility = options.show === false ? 'hidden' : 'visible';
    const getUrl = (): string => this.getURL();
    this.mainFrame = {
      parent: null,
      get url() {
        return getUrl();
      },
    };
    created.emit('web-contents', this);
    this.#opened = this.#open();
  }

  /** The page underneath, for the test. */
  get page(): Page | null {
    return this.#page;
  }

  isDestroyed(): boolean {
    return this.#isDestroyed;
  }

  getURL(): string {
    return appAddress(this.#page?.url() ?? '');
  }

  setWindowOpenHandler(handler: OpenHandler): void {
    this.#openHandler = handler;
  }

  /** "Send an asynchronous message to the renderer process via channel, along with arguments. Arguments will be serialized with the Structured Clone Algorithm." */
  send(channel: string, ...args: unknown[]): void {
    if (this.#isDestroyed) throw new TypeError('Object has been destroyed');
    const body = encodeOr(args, 'Failed to serialize arguments');
    void this.#toWorld({ kind: 'message', channel, body });
  }

  async loadURL(url: string): Promise<void> {
    await this.#opened;
    await this.#page?.goto(browserAddress(url)).catch((cause: unknown) => {
      if (this.#isDestroyed) return;
      this.emit('did-fail-load', {}, -2, String(cause), url, true);
      throw cause;
    });
  }

  reload(): void {
    if (this.#hasCrashed) this.#opened = this.#reopen();
    else void this.#page?.reload().catch(() => undefined);
  }

  /** For the test: the process behind the page faults. */
  async crash(): Promise<void> {
    // It never answers.
    void this.#session?.send('Page.crash').catch(() => undefined);
    await once(this, 'render-process-gone');
  }

  async destroy(): Promise<void> {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    await this.#opened.catch(() => undefined);
    await this.#page?.close().catch(() => undefined);
    this.emit('destroyed');
  }

  /** For the test: a message as another frame or page would send it. */
  async receive(channel: string, args: readonly unknown[], from: ForeignSender): Promise<Reply> {
    const frame: Frame | null = from.isGone ? null : { url: from.url, parent: from.isTopFrame ? null : this.mainFrame };
    const sender = from.isOwn ? this : new EventEmitter();
    const event = { sender, senderFrame: frame } as unknown as IpcMainInvokeEvent;
    return invokeMain(event, channel, encodeOr(args, 'An object could not be cloned.'));
  }

  /** The size the page is laid out in. */
  async resizePage({ width, height }: Pick<Rectangle, 'width' | 'height'>): Promise<void> {
    this.#size = { width, height };
    await this.#opened.catch(() => undefined);
    await this.#page?.setViewportSize(this.#size).catch(() => undefined);
  }

  setPageVisibility(state: 'visible' | 'hidden'): void {
    this.#visibility = state;
    void this.#toWorld({ kind: 'visibility', state });
  }

  async #open(): Promise<void> {
    if (pages.open === null) throw new Error('the browser is not running');
    const page = await pages.open();
    this.#page = page;
    if (this.#isDestroyed) return;
    await page.setViewportSize(this.#size);
    const session = await page.context().newCDPSession(page);
    this.#session = session;
    await session.send('Page.enable');
    await this.#installWorlds(session);
    this.#watch(page, session);
  }

  /** A crashed page of the browser underneath is of no more use; its successor goes to the same address. */
  async #reopen(): Promise<void> {
    const gone = this.#page;
    const url = gone?.url() ?? 'about:blank';
    this.#hasCrashed = false;
    this.#world = null;
    await this.#open();
    await gone?.close().catch(() => undefined);
    await this.#page?.goto(url).catch(() => undefined);
  }

  async #installWorlds(session: CDPSession): Promise<void> {
    const { frameTree } = await session.send('Page.getFrameTree');
    this.#mainFrameId = frameTree.frame.id;
    if (this.#preload === null) return;
    const secret = randomBytes(16).toString('hex');
    session.on('Runtime.executionContextCreated', ({ context }) => {
      if (context.name === WORLD && (context.auxData as { frameId?: string }).frameId === this.#mainFrameId) {
        this.#world = context.id;
        void this.#toWorld({ kind: 'visibility', state: this.#visibility });
      }
    });
    session.on('Runtime.bindingCalled', ({ payload, executionContextId }) => void this.#fromWorld(payload, executionContextId));
    await session.send('Runtime.enable');
    await session.send('Runtime.addBinding', { name: '__host', executionContextName: WORLD });
    // The page's half listens before the preload script speaks.
    await session.send('Page.addScriptToEvaluateOnNewDocument', { source: onlyTopFrame(pageWorldSource(secret)) });
    const script = readFileSync(this.#preload, 'utf8');
    await session.send('Page.addScriptToEvaluateOnNewDocument', {
      worldName: WORLD,
      source: onlyTopFrame(preloadWorldSource(secret, script)),
    });
  }

  #mainFrameId = '';

  #watch(page: Page, session: CDPSession): void {
    const started = (url: string, isMainFrame: boolean, isSameDocument: boolean): void => {
      this.emit('did-start-navigation', { url: appAddress(url), isMainFrame, isSameDocument });
    };
    session.on('Page.frameNavigated', ({ frame }) => started(frame.url, frame.parentId === undefined, false));
    session.on('Page.navigatedWithinDocument', ({ url, frameId }) => started(url, frameId === this.#mainFrameId, true));
    session.on('Page.loadEventFired', () => this.emit('did-finish-load'));
    page.on('crash', () => {
      this.#hasCrashed = true;
      this.emit('render-process-gone', {}, { reason: 'crashed', exitCode: 1 });
    });
    // Told before the new page is there, and what is denied goes at once. "foreground-tab" is what a link with a target asks for.
    session.on('Page.windowOpen', ({ url, windowName, windowFeatures }) => {
      const disposition = windowFeatures.length > 0 ? 'new-window' : 'foreground-tab';
      this.#openHandler({ url: appAddress(url), disposition, frameName: windowName, features: windowFeatures.join(',') });
    });
    page.on('popup', (popup) => void popup.close().catch(() => undefined));
    // Navigations a page begins are put to the shell before they happen.
    void session.send('Fetch.enable', { patterns: [{ urlPattern: '*', resourceType: 'Document', requestStage: 'Request' }] });
    session.on('Fetch.requestPaused', (paused) => {
      const isMainFrame = paused.frameId === this.#mainFrameId;
      const url = appAddress(paused.request.url);
      let prevented = false;
      const details = { url, isMainFrame, isSameDocument: false, preventDefault: () => (prevented = true) };
      if (page.url() !== 'about:blank') {
        this.emit('will-frame-navigate', details);
        if (isMainFrame && url !== this.getURL()) this.emit('will-navigate', details);
      }
      const answer = prevented
        ? session.send('Fetch.failRequest', { requestId: paused.requestId, errorReason: 'Aborted' })
        : session.send('Fetch.continueRequest', { requestId: paused.requestId });
      answer.catch(() => undefined);
    });
  }

  async #fromWorld(payload: string, contextId: number): Promise<void> {
    const message = JSON.parse(payload) as { kind: 'invoke' | 'send'; id: number; channel: string; body: string };
    const event = { sender: this, senderFrame: this.mainFrame, processId: 1, frameId: 1 };
    if (message.kind === 'send') {
      sendMain(event as unknown as IpcMainEvent, message.channel, message.body);
      return;
    }
    const reply = await invokeMain(event as unknown as IpcMainInvokeEvent, message.channel, message.body);
    await this.#evaluate(contextId, { kind: 'reply', id: message.id, ...reply });
  }

  async #toWorld(message: unknown): Promise<void> {
    if (this.#world !== null) await this.#evaluate(this.#world, message);
  }

  async #evaluate(contextId: number, message: unknown): Promise<void> {
    // A page that went takes its waits along.
    await this.#session
      ?.send('Runtime.evaluate', { contextId, expression: `__fromHost(${JSON.stringify(message)})` })
      .catch(() => undefined);
  }
}

/** "Preload scripts are not run in frames unless nodeIntegrationInSubFrames is set." */
function onlyTopFrame(source: string): string {
  return `if (window === window.top) { ${source} }`;
}

export class BrowserWindow extends EventEmitter {
  readonly webContents: WebContents;
  readonly options: BrowserWindowConstructorOptions;
  #bounds: Rectangle;
  #isVisible = false;
  #isFocused = false;
  #isMinimized = false;
  #isMaximized = false;
  #isDestroyed = false;
  title: string;

  constructor(options: BrowserWindowConstructorOptions = {}) {
    super();
    needsReady('BrowserWindow');
    this.options = options;
    this.title = options.title ?? '';
    this.#bounds = { x: options.x ?? 40, y: options.y ?? 40, width: options.width ?? 800, height: options.height ?? 600 };
    this.webContents = new WebContents(options);
    windows.add(this);
    if (options.show !== false) this.show();
  }

  static getAllWindows(): BrowserWindow[] {
    return [...windows];
  }

  getBounds(): Rectangle {
    return this.getNormalBounds();
  }

  loadURL(url: string): Promise<void> {
    this.#assertAlive();
    return this.webContents.loadURL(url);
  }

  reload(): void {
    this.webContents.reload();
  }

  show(): void {
    this.#assertAlive();
    const wasVisible = this.#isVisible;
    this.#isVisible = true;
    this.#tellVisibility();
    if (!wasVisible) this.emit('show');
    this.focus();
  }

  hide(): void {
    this.#assertAlive();
    this.blur();
    const wasVisible = this.#isVisible;
    this.#isVisible = false;
    this.#tellVisibility();
    if (wasVisible) this.emit('hide');
  }

  focus(): void {
    this.#assertAlive();
    if (this.#isFocused || !this.#isVisible) return;
    this.#isFocused = true;
    this.emit('focus');
  }

  blur(): void {
    if (!this.#isFocused) return;
    this.#isFocused = false;
    this.emit('blur');
  }

  minimize(): void {
    this.#assertAlive();
    this.#isMinimized = true;
    this.blur();
    this.#tellVisibility();
    this.emit('minimize');
  }

  restore(): void {
    this.#assertAlive();
    this.#isMinimized = false;
    this.#tellVisibility();
    this.emit('restore');
  }

  maximize(): void {
    this.#assertAlive();
    this.#isMaximized = true;
    this.emit('maximize');
  }

  isVisible(): boolean {
    this.#assertAlive();
    return this.#isVisible && !this.#isMinimized;
  }

  isFocused(): boolean {
    this.#assertAlive();
    return this.#isFocused;
  }

  isMinimized(): boolean {
    this.#assertAlive();
    return this.#isMinimized;
  }

  isMaximized(): boolean {
    this.#assertAlive();
    return this.#isMaximized;
  }

  isDestroyed(): boolean {
    return this.#isDestroyed;
  }

  setTitle(title: string): void {
    this.#assertAlive();
    this.title = title;
  }

  getTitle(): string {
    return this.title;
  }

  getNormalBounds(): Rectangle {
    this.#assertAlive();
    return { ...this.#bounds };
  }

  setBounds(bounds: Partial<Rectangle>): void {
    this.#assertAlive();
    const before = this.#bounds;
    const { minWidth = 0, minHeight = 0 } = this.options;
    const next = { ...before, ...bounds };
    this.#bounds = { ...next, width: Math.max(next.width, minWidth), height: Math.max(next.height, minHeight) };
    const { width, height, x, y } = this.#bounds;
    if (width !== before.width || height !== before.height) {
      void this.webContents.resizePage(this.#bounds);
      this.emit('resize');
    }
    if (x !== before.x || y !== before.y) this.emit('move');
  }

  /** "Try to close the window. This has the same effect as a user manually clicking the close button of the window. The web page may cancel the close though." */
  close(): void {
    if (this.#isDestroyed) return;
    let prevented = false;
    this.emit('close', { preventDefault: () => (prevented = true) });
    if (!prevented) this.destroy();
    else if (lifecycle.isQuitting) lifecycle.isQuitting = false;
  }

  /** "Force closing the window, the unload and beforeunload event won't be emitted for the web page, and close event will also not be emitted for this window, but it guarantees the closed event will be emitted." */
  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#isVisible = false;
    windows.delete(this);
    void this.webContents.destroy();
    this.emit('closed');
    created.emit('window-closed');
  }

  #tellVisibility(): void {
    this.webContents.setPageVisibility(this.#isVisible && !this.#isMinimized ? 'visible' : 'hidden');
  }

  #assertAlive(): void {
    if (this.#isDestroyed) throw new TypeError('Object has been destroyed');
  }
}
