// The one window: created when first shown, hidden when closed, restored to its last place. Its page is sandboxed and reaches the runtime
// only through the preload bridge.

import type { BrowserWindow, BrowserWindowConstructorOptions, Rectangle, WebContents } from 'electron';
import type { WindowPlaceFile } from './window-place.ts';

export interface MainWindowOptions {
  readonly create: (options: BrowserWindowConstructorOptions) => BrowserWindow;
  readonly screens: () => readonly Rectangle[];
  readonly place: WindowPlaceFile;
  readonly preloadFile: string;
  readonly page: string;
  readonly iconFile: string | null;
  /** True once the app quits: only then does closing the window really close it. */
  readonly isQuitting: () => boolean;
  /** A page was created; called before it loads. */
  readonly onPage: (contents: WebContents) => void;
  /** The page was reloaded or closed: its streams end. */
  readonly onPageGone: () => void;
  /** The page crashed or failed to load. */
  readonly onPageFailed: (why: string) => void;
  /** The window gained or lost focus, or was shown or hidden. */
  readonly onAttentionChanged: () => void;
  readonly isDark: () => boolean;
  /** Windows tells an app only through its windows that the session may end, or ends now; see `followSessionEnd`. */
  readonly onSessionMayEnd: () => void;
  readonly onSessionEnd: () => void;
}

const sizes = { width: 1180, height: 780, minWidth: 360, minHeight: 420 };
const PLACE_WRITTEN_AFTER_MS = 500;

export class MainWindow {
  readonly #options: MainWindowOptions;
  #window: BrowserWindow | null = null;
  #placeTimer: NodeJS.Timeout | null = null;

  constructor(options: MainWindowOptions) {
    this.#options = options;
  }

  get contents(): WebContents | null {
    return this.#window === null || this.#window.isDestroyed() ? null : this.#window.webContents;
  }

  get browserWindow(): BrowserWindow | null {
    return this.contents === null ? null : this.#window;
  }

  /** How visible the window is right now. */
  get attention(): 'focused' | 'visible' | 'hidden' {
    const window = this.browserWindow;
    // Some systems report a minimised window as visible.
    if (window === null || !window.isVisible() || window.isMinimized()) return 'hidden';
    return window.isFocused() ? 'focused' : 'visible';
  }

  /** Brings the window to the front; creates it first if needed. */
  show(): void {
    const window = this.browserWindow ?? this.#make();
    if (window.isMinimized()) window.restore();
    window.show();
    window.focus();
  }

  setTitle(title: string): void {
    this.browserWindow?.setTitle(title);
  }

  reload(): void {
    this.browserWindow?.reload();
  }

  /** Destroys a window whose page cannot be recovered. */
  abandon(): void {
    this.#keepPlace();
    this.browserWindow?.destroy();
  }

  dispose(): void {
    if (this.#placeTimer !== null) clearTimeout(this.#placeTimer);
    this.#keepPlace();
    this.browserWindow?.destroy();
    this.#window = null;
  }

  #make(): BrowserWindow {
    const { create, place, screens, preloadFile, page, iconFile } = this.#options;
    const last = place.read(screens());
    const window = create({
      ...sizes,
      ...(last === null ? {} : { x: last.x, y: last.y, width: last.width, height: last.height }),
      ...(iconFile === null ? {} : { icon: iconFile }),
      title: 'TrayClaw',
      show: false,
      // The page's background colour, so that no white flashes before the page is drawn.
      backgroundColor: this.#options.isDark() ? '#1b1a18' : '#fbfaf8',
      autoHideMenuBar: true,
      webPreferences: {
        preload: preloadFile,
        sandbox: true,
        contextIsolation: true,
        nodeIntegration: false,
        nodeIntegrationInWorker: false,
        nodeIntegrationInSubFrames: false,
        webSecurity: true,
        allowRunningInsecureContent: false,
        experimentalFeatures: false,
        webviewTag: false,
        navigateOnDragDrop: false,
        // macOS has a spelling checker. On other systems Electron would load dictionaries from a server of Google.
        spellcheck: process.platform === 'darwin',
      },
    });
    if (last?.maximized === true) window.maximize();
    this.#follow(window);
    this.#window = window;
    // A failure is reported through did-fail-load.
    void window.loadURL(page).catch(() => undefined);
    return window;
  }

  #follow(window: BrowserWindow): void {
    const { isQuitting, onPageGone, onSessionMayEnd, onSessionEnd } = this.#options;
    const keepSoon = (): void => this.#keepPlaceSoon();
    window.on('resize', keepSoon);
    window.on('move', keepSoon);
    this.#followAttention(window);
    window.on('close', (event) => {
      this.#keepPlace();
      if (isQuitting()) return;
      // The work continues; the tray or another start shows the window again.
      event.preventDefault();
      hideWindow(window);
    });
    window.on('closed', () => {
      onPageGone();
      if (this.#window === window) this.#window = null;
      this.#options.onAttentionChanged();
    });
    window.on('query-session-end', () => onSessionMayEnd());
    window.on('session-end', () => onSessionEnd());
    this.#followPage(window.webContents);
  }

  #followAttention(window: BrowserWindow): void {
    const changed = (): void => this.#options.onAttentionChanged();
    window.on('focus', changed);
    window.on('blur', changed);
    window.on('show', changed);
    window.on('hide', changed);
    window.on('minimize', changed);
    window.on('restore', changed);
  }

  #followPage(contents: WebContents): void {
    const { onPage, onPageGone, onPageFailed } = this.#options;
    onPage(contents);
    contents.on('did-start-navigation', (details) => {
      if (details.isMainFrame && !details.isSameDocument) onPageGone();
    });
    contents.on('render-process-gone', (_event, details) => {
      onPageGone();
      if (details.reason !== 'clean-exit') onPageFailed(`the page ended (${details.reason})`);
    });
    contents.on('did-fail-load', (...[, code, description, , isMainFrame]) => {
      // -3 (ERR_ABORTED): replaced by another load.
      if (isMainFrame && code !== -3) onPageFailed(`the page could not be loaded (${description})`);
    });
  }

  #keepPlaceSoon(): void {
    this.#placeTimer ??= setTimeout(() => {
      this.#placeTimer = null;
      this.#keepPlace();
    }, PLACE_WRITTEN_AFTER_MS).unref();
  }

  #keepPlace(): void {
    const window = this.browserWindow;
    if (window === null || window.isMinimized()) return;
    const { x, y, width, height } = window.getNormalBounds();
    this.#options.place.write({ x, y, width, height, maximized: window.isMaximized() });
  }
}

function hideWindow(window: BrowserWindow): void {
  if (!window.isFullScreen()) {
    window.hide();
    return;
  }
  // On macOS, a window that is hidden in full screen leaves a black screen.
  window.once('leave-full-screen', () => window.hide());
  window.setFullScreen(false);
}
