// WebContents and its main frame over a page of a real Chromium. Chromium decides what a page may do; the events for the shell and their
// order follow Electron's documentation.

import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import type { BrowserWindowConstructorOptions, IpcMainEvent, IpcMainInvokeEvent, Rectangle } from 'electron';
import type { CDPSession, Page } from 'playwright-core';
import { appAddress, browserAddress } from './protocol.ts';
import { encodeOr, invokeMain, sendMain, type Reply } from './ipc-main.ts';
import { followNavigation, type OpenHandler } from './navigation.ts';
import { tellPermissions } from './page-permissions.ts';
import { pageWorldSource, preloadWorldSource } from './worlds.ts';

const WORLD = 'preload';

export const created = new EventEmitter();
/** Set once the browser runs. */
export const pages: { open: (() => Promise<Page>) | null; browser: CDPSession | null } = { open: null, browser: null };

/** The claimed sender of a test's message. */
export interface ForeignSender {
  readonly url: string;
  readonly isTopFrame: boolean;
  readonly isOwn: boolean;
  /** "May be null if accessed after the frame has either navigated or been destroyed." */
  readonly isGone?: boolean;
  /** The window's real top frame, past the preload script, with its actual address. */
  readonly isMainFrame?: boolean;
}

interface Frame {
  readonly url: string;
  readonly parent: Frame | null;
}

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
  #loadsByApp = 0;
  #mainFrameId = '';
  static #lastId = 0;

  constructor(options: BrowserWindowConstructorOptions) {
    super();
    this.id = WebContents.#lastId += 1;
    this.#preload = options.webPreferences?.preload ?? null;
    this.#size = { width: options.width ?? 800, height: options.height ?? 600 };
    this.#visibility = options.show === false ? 'hidden' : 'visible';
    const getUrl = (): string => appAddress(this.#page?.url() ?? '');
    this.mainFrame = {
      parent: null,
      get url() {
        return getUrl();
      },
    };
    created.emit('web-contents', this);
    this.#opened = this.#open();
  }

  /** The underlying page, for the test. */
  get page(): Page | null {
    return this.#page;
  }

  isDestroyed(): boolean {
    return this.#isDestroyed;
  }

  isCrashed(): boolean {
    return this.#hasCrashed;
  }

  getURL(): string {
    this.#assertAlive();
    return appAddress(this.#page?.url() ?? '');
  }

  setWindowOpenHandler(handler: OpenHandler): void {
    this.#assertAlive();
    this.#openHandler = handler;
  }

  /** "Send an asynchronous message to the renderer process via channel, along with arguments. Arguments will be serialized with the Structured Clone Algorithm." */
  send(channel: string, ...args: unknown[]): void {
    this.#assertAlive();
    const body = encodeOr(args, 'Failed to serialize arguments');
    void this.#toWorld({ kind: 'message', channel, body });
  }

  /** "The promise will resolve when the page has finished loading (see did-finish-load)." */
  async loadURL(url: string): Promise<void> {
    await this.#opened;
    await this.#permit(url);
    await this.#byApp(this.#goto(url)).catch((cause: unknown) => {
      if (this.#isDestroyed) return;
      this.emit('did-fail-load', {}, -2, String(cause), url, true);
      throw cause;
    });
  }

  /** The event arrives through another session of the browser than the answer, possibly later. */
  async #goto(url: string): Promise<void> {
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => this.once('did-finish-load', (finish = resolve)));
    try {
      // Without a response nothing was loaded: a navigation within the document.
      if ((await this.#page?.goto(browserAddress(url))) ?? false) await finished;
    } finally {
      this.off('did-finish-load', finish);
    }
  }

  reload(): void {
    if (this.#hasCrashed) this.#opened = this.#reopen();
    else void this.#reload().catch(() => undefined);
  }

  /** "A promise that resolves with the result of the executed code or is rejected if the result of the code is a rejected promise." */
  async executeJavaScript(code: string, userGesture = false): Promise<unknown> {
    await this.#opened;
    if (this.#session === null) throw new TypeError('Object has been destroyed');
    const { result, exceptionDetails } = await this.#session.send('Runtime.evaluate', {
      expression: code,
      userGesture,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value as unknown;
  }

  /** For the test: crashes the process behind the page. */
  async crash(): Promise<void> {
    // This call never gets an answer.
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

  /** For the test: receives a message as another frame or page would send it. */
  async receive(channel: string, args: readonly unknown[], from: ForeignSender): Promise<Reply> {
    const other: Frame | null = from.isGone ? null : { url: from.url, parent: from.isTopFrame ? null : this.mainFrame };
    const frame = from.isMainFrame ? this.mainFrame : other;
    const sender = from.isOwn ? this : new EventEmitter();
    const event = { sender, senderFrame: frame } as unknown as IpcMainInvokeEvent;
    return invokeMain(event, channel, encodeOr(args, 'An object could not be cloned.'));
  }

  /** Sets the size for the page's layout. */
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
    followNavigation(this, {
      page,
      session,
      mainFrameId: this.#mainFrameId,
      isByApp: () => this.#loadsByApp > 0,
      onOpen: (details) => this.#openHandler(details),
      onCrash: () => {
        this.#hasCrashed = true;
      },
    });
  }

  async #reload(): Promise<void> {
    await this.#permit(this.getURL());
    await this.#byApp(this.#page?.reload());
  }

  async #permit(url: string): Promise<void> {
    // A closed page needs no permission.
    if (pages.browser !== null) await tellPermissions(pages.browser, this, url).catch(() => undefined);
  }

  /** A crashed page of the underlying browser cannot be reused; its replacement goes to the same address. */
  async #reopen(): Promise<void> {
    const gone = this.#page;
    const url = gone?.url() ?? 'about:blank';
    this.#hasCrashed = false;
    this.#world = null;
    await this.#open();
    await gone?.close().catch(() => undefined);
    await this.#byApp(this.#page?.goto(url)).catch(() => undefined);
  }

  /** While the load lasts, navigations count as started by the app. */
  async #byApp(load: Promise<unknown> | undefined): Promise<void> {
    this.#loadsByApp += 1;
    try {
      await load;
    } finally {
      this.#loadsByApp -= 1;
    }
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
    // The page's half listens before the preload script sends.
    await session.send('Page.addScriptToEvaluateOnNewDocument', { source: onlyTopFrame(pageWorldSource(secret)) });
    const script = readFileSync(this.#preload, 'utf8');
    await session.send('Page.addScriptToEvaluateOnNewDocument', {
      worldName: WORLD,
      source: onlyTopFrame(preloadWorldSource(secret, script)),
    });
  }

  async #fromWorld(payload: string, contextId: number): Promise<void> {
    const message = JSON.parse(payload) as { kind: 'invoke' | 'send'; id: number; channel: string; body: string };
    const event = this.#eventFrom(contextId);
    if (message.kind === 'send') {
      sendMain(event as unknown as IpcMainEvent, message.channel, message.body);
      return;
    }
    const reply = await invokeMain(event as unknown as IpcMainInvokeEvent, message.channel, message.body);
    await this.#evaluate(contextId, { kind: 'reply', id: message.id, ...reply });
  }

  /** "The frame that sent this message. May be null if accessed after the frame has either navigated or been destroyed." */
  #eventFrom(contextId: number): object {
    const frame = (): Frame | null => (this.#world === contextId && !this.#isDestroyed ? this.mainFrame : null);
    return {
      type: 'frame',
      sender: this,
      processId: 1,
      frameId: 1,
      get senderFrame() {
        return frame();
      },
    };
  }

  async #toWorld(message: unknown): Promise<void> {
    if (this.#world !== null) await this.#evaluate(this.#world, message);
  }

  #assertAlive(): void {
    if (this.#isDestroyed) throw new TypeError('Object has been destroyed');
  }

  async #evaluate(contextId: number, message: unknown): Promise<void> {
    // Pending calls of a page end with it.
    await this.#session
      ?.send('Runtime.evaluate', { contextId, expression: `__fromHost(${JSON.stringify(message)})` })
      .catch(() => undefined);
  }
}

/** "Preload scripts are not run in frames unless nodeIntegrationInSubFrames is set." */
function onlyTopFrame(source: string): string {
  return `if (window === window.top) { ${source} }`;
}
