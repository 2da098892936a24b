// BrowserWindow, WebContents and WebFrameMain over a page of a real Chromium. What a page may do is what Chromium lets it do; what the
// shell is told, and in which order, follows Electron's documentation.

import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import type { BrowserWindowConstructorOptions, IpcMainInvokeEvent, Rectangle } from 'electron';
import type { CDPSession, Page } from 'playwright-core';
import { appAddress, browserAddress } from './protocol.ts';
import { invokeMain } from './ipc-main.ts';
import { lifecycle, needsReady } from './lifecycle.ts';
import { pageWorldSource, preloadWorldSource } from './worlds.ts';

const WORLD = 'preload';

export const windows = new Set<BrowserWindow>();
export const created = new EventEmitter();
/** Set once the browser runs. */
export const pages: { open: (() => Promise<Page>) | null } = { open: null };

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
  #session: CDPSession | null = null;
  #world: number | null = null;
  #isDestroyed = false;
  #openHandler: OpenHandler = () => ({ action: 'allow' });
  readonly #opened: Promise<void>;
  static #lastId = 0;

  constructor(options: BrowserWindowConstructorOptions) {
    super();
    this.id = WebContents.#lastId += 1;
    this.#preload = options.webPreferences?.preload ?? null;
    const getUrl = (): string => this.getURL();
    this.mainFrame = {
      parent: null,
      get url() {
        return getUrl();
      },
    };
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
    if (this.#isDestroyed) throw new Error('Object has been destroyed');
    void this.#toWorld({ kind: 'message', channel, args: structuredClone(args) });
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
    void this.#page?.reload().catch(() => undefined);
  }

  async destroy(): Promise<void> {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    await this.#opened.catch(() => undefined);
    await this.#page?.close().catch(() => undefined);
    this.emit('destroyed');
  }

  /** For the test: a message as another frame or page would send it. */
  async receive(channel: string, args: readonly unknown[], from: { url: string; isTopFrame: boolean; isOwn: boolean }): Promise<unknown> {
    const frame: Frame = { url: from.url, parent: from.isTopFrame ? null : this.mainFrame };
    const sender = from.isOwn ? this : new EventEmitter();
    return invokeMain({ sender, senderFrame: frame } as unknown as IpcMainInvokeEvent, channel, args);
  }

  async #open(): Promise<void> {
    created.emit('web-contents', this);
    if (pages.open === null) throw new Error('the browser is not running');
    const page = await pages.open();
    this.#page = page;
    if (this.#isDestroyed) return;
    const session = await page.context().newCDPSession(page);
    this.#session = session;
    await this.#installWorlds(session);
    this.#watch(page, session);
  }

  async #installWorlds(session: CDPSession): Promise<void> {
    if (this.#preload === null) return;
    const secret = randomBytes(16).toString('hex');
    session.on('Runtime.executionContextCreated', ({ context }) => {
      if (context.name === WORLD && (context.auxData as { frameId?: string }).frameId === this.#mainFrameId) this.#world = context.id;
    });
    session.on('Runtime.bindingCalled', ({ payload, executionContextId }) => void this.#fromWorld(payload, executionContextId));
    await session.send('Page.enable');
    const { frameTree } = await session.send('Page.getFrameTree');
    this.#mainFrameId = frameTree.frame.id;
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
    page.on('framenavigated', (frame) => {
      const isMainFrame = frame === page.mainFrame();
      this.emit('did-start-navigation', { url: appAddress(frame.url()), isMainFrame, isSameDocument: false });
      if (isMainFrame) this.emit('did-finish-load');
    });
    page.on('crash', () => this.emit('render-process-gone', {}, { reason: 'crashed', exitCode: 1 }));
    page.on('popup', (popup) => {
      const url = popup.url();
      void popup.close().catch(() => undefined);
      this.#openHandler({ url: appAddress(url), disposition: 'foreground-tab', frameName: '', features: '' });
    });
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
    const message = JSON.parse(payload) as { kind: 'invoke' | 'send'; id: number; channel: string; args: unknown[] };
    const event = { sender: this, senderFrame: this.mainFrame, processId: 1, frameId: 1 } as unknown as IpcMainInvokeEvent;
    const reply = await invokeMain(event, message.channel, message.args);
    if (message.kind === 'invoke') await this.#evaluate(contextId, { kind: 'reply', id: message.id, ...reply });
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

  loadURL(url: string): Promise<void> {
    return this.webContents.loadURL(url);
  }

  reload(): void {
    this.webContents.reload();
  }

  show(): void {
    this.#assertAlive();
    const wasVisible = this.#isVisible;
    this.#isVisible = true;
    if (!wasVisible) this.emit('show');
    this.focus();
  }

  hide(): void {
    this.#assertAlive();
    this.blur();
    this.#isVisible = false;
    this.emit('hide');
  }

  focus(): void {
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
    this.#isMinimized = true;
    this.blur();
    this.emit('minimize');
  }

  restore(): void {
    this.#isMinimized = false;
    this.emit('restore');
  }

  maximize(): void {
    this.#isMaximized = true;
    this.emit('maximize');
  }

  isVisible(): boolean {
    return this.#isVisible && !this.#isMinimized;
  }

  isFocused(): boolean {
    return this.#isFocused;
  }

  isMinimized(): boolean {
    return this.#isMinimized;
  }

  isMaximized(): boolean {
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
    this.#bounds = { ...this.#bounds, ...bounds };
    this.emit('resize');
    this.emit('move');
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

  #assertAlive(): void {
    if (this.#isDestroyed) throw new TypeError('Object has been destroyed');
  }
}
