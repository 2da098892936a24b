// app: readiness, the single-instance lock, and the order in which an app quits. The order follows Electron's documentation of app:
// before-quit, the windows' close, will-quit, quit; preventDefault stops it.

import { EventEmitter } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { windows } from './browser-window.ts';
import { created, pages } from './web-contents.ts';
import { takeInstanceLock } from './instance-lock.ts';
import { startChromium, type RunningChromium } from './chromium.ts';
import { codeLoaded, lifecycle } from './lifecycle.ts';
import { routeSchemes } from './protocol.ts';

interface Preventable {
  preventDefault(): void;
  readonly defaultPrevented: boolean;
}

function preventable(): Preventable {
  let defaultPrevented = false;
  return {
    preventDefault: () => {
      defaultPrevented = true;
    },
    get defaultPrevented() {
      return defaultPrevented;
    },
  };
}

class StandInApp extends EventEmitter {
  readonly isPackaged = false;
  readonly commandLine = {
    getSwitchValue: (name: string): string =>
      process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3) ?? '',
    hasSwitch: (name: string): boolean => process.argv.some((argument) => argument === `--${name}` || argument.startsWith(`--${name}=`)),
  };
  readonly protocolClients: string[] = [];
  /** Set once the first window has been created. */
  chromium: { readonly address: string } | null = null;
  #canOpenPages = true;
  appUserModelId = '';
  loginItem = { openAtLogin: false };
  #name = 'electron';
  #releaseLock: (() => void) | null = null;
  #isEnding = false;
  #starting: Promise<RunningChromium> | null = null;
  #paths = new Map<string, string>();
  readonly #ready = new Promise<void>((resolve) => this.once('ready', () => resolve()));

  constructor() {
    super();
    // As in Electron, which waits for the main module to its end: one that awaits ready at its top level waits for ever.
    void codeLoaded.promise.then(() => setImmediate(() => this.#becomeReady()));
    created.on('web-contents', (contents) => this.emit('web-contents-created', {}, contents));
    created.on('window-closed', () => {
      if (windows.size === 0) this.#lastWindowClosed();
    });
  }

  whenReady(): Promise<void> {
    return this.#ready;
  }

  isReady(): boolean {
    return lifecycle.isReady;
  }

  getName(): string {
    return this.#name;
  }

  setName(name: string): void {
    this.#name = name;
  }

  setAppUserModelId(id: string): void {
    this.appUserModelId = id;
  }

  getAppPath(): string {
    return process.cwd();
  }

  getVersion(): string {
    return '0.0.0';
  }

  getPath(name: string): string {
    return this.#paths.get(name) ?? join(tmpdir(), `electron-${name}`);
  }

  /** "If the path specifies a directory that does not exist, an Error is thrown." */
  setPath(name: string, path: string): void {
    if (!existsSync(path)) throw new Error('Failed to set path');
    this.#paths.set(name, path);
  }

  enableSandbox(): void {
    if (lifecycle.isReady) throw new Error('app.enableSandbox() can only be called before app is ready');
    // The call removes the switch from the browser process only: the zygote was started with it, and its pages end at once.
    if (this.commandLine.hasSwitch('no-sandbox')) this.#canOpenPages = false;
  }

  setAsDefaultProtocolClient(scheme: string): boolean {
    this.protocolClients.push(scheme);
    return true;
  }

  getLoginItemSettings(): { openAtLogin: boolean } {
    return { ...this.loginItem };
  }

  setLoginItemSettings(settings: { openAtLogin?: boolean }): void {
    this.loginItem = { openAtLogin: settings.openAtLogin ?? false };
  }

  /** "The return value of this method indicates whether or not this instance of your application successfully obtained the lock." */
  requestSingleInstanceLock(additionalData?: Record<PropertyKey, unknown>): boolean {
    if (this.#releaseLock !== null) return true;
    const start = { argv: process.argv, cwd: process.cwd(), data: additionalData };
    this.#releaseLock = takeInstanceLock(this.getPath('userData'), start, ({ argv, cwd, data }) => {
      // "This event is guaranteed to be emitted after the ready event of app gets emitted."
      void this.#ready.then(() => this.emit('second-instance', preventable(), [...argv], cwd, data));
    });
    return this.#releaseLock !== null;
  }

  hasSingleInstanceLock(): boolean {
    return this.#releaseLock !== null;
  }

  releaseSingleInstanceLock(): void {
    this.#releaseLock?.();
    this.#releaseLock = null;
  }

  quit(): void {
    if (lifecycle.isQuitting) return;
    const event = preventable();
    this.emit('before-quit', event);
    if (event.defaultPrevented) return;
    lifecycle.isQuitting = true;
    for (const window of Array.from(windows)) window.close();
    if (windows.size > 0) return;
    this.#willQuit();
  }

  /** "Exits immediately with exitCode. All windows will be closed immediately without asking the user, and the before-quit and will-quit events will not be emitted." */
  exit(code = 0): void {
    lifecycle.isQuitting = true;
    for (const window of Array.from(windows)) window.destroy();
    void this.#end(code);
  }

  #lastWindowClosed(): void {
    if (lifecycle.isQuitting || this.#isEnding) return;
    // "If you do not subscribe to this event and all windows are closed, the default behavior is to quit the app."
    if (this.listenerCount('window-all-closed') > 0) this.emit('window-all-closed');
    else this.quit();
  }

  #willQuit(): void {
    const event = preventable();
    this.emit('will-quit', event);
    if (event.defaultPrevented) {
      lifecycle.isQuitting = false;
      return;
    }
    void this.#end(0);
  }

  async #end(code: number): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.emit('quit', preventable(), code);
    this.releaseSingleInstanceLock();
    // A browser that failed to start has nothing to close.
    await this.#starting?.then((running) => running.close()).catch(() => undefined);
    process.exit(code);
  }

  #becomeReady(): void {
    if (this.#isEnding) return;
    let browser: Promise<RunningChromium> | null = null;
    pages.open = async () => {
      if (!this.#canOpenPages) throw new Error('the page ended (exit code 133)');
      const isFirst = browser === null;
      const { context } = await (browser ??= this.#startBrowser());
      const first = isFirst ? context.pages()[0] : undefined;
      return first ?? context.newPage();
    };
    lifecycle.isReady = true;
    this.emit('ready', {}, {});
  }

  async #startBrowser(): Promise<RunningChromium> {
    const profile = join(this.getPath('userData'), 'chromium');
    mkdirSync(profile, { recursive: true });
    this.#starting = startChromium(profile);
    const running = await this.#starting;
    await routeSchemes(running.context);
    pages.browser = await running.browser.newBrowserCDPSession();
    this.chromium = { address: running.address };
    return running;
  }
}

export const app = new StandInApp();
