// BrowserWindow: the window manager's side of a window. WebContents handles its page.

import { EventEmitter } from 'node:events';
import type { BrowserWindowConstructorOptions, Rectangle } from 'electron';
import { lifecycle, needsReady } from './lifecycle.ts';
import { created, WebContents } from './web-contents.ts';

export const windows = new Set<BrowserWindow>();

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

  /** The stand-in's screen has no full-screen mode. */
  isFullScreen(): boolean {
    this.#assertAlive();
    return false;
  }

  setFullScreen(_isOn: boolean): void {
    this.#assertAlive();
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
