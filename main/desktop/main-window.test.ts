// The one window: created once, hidden when closed, restored to its place; passes on events of its page and of the system.

import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserWindow, BrowserWindowConstructorOptions, Rectangle } from 'electron';
import { expect, onTestFinished, test } from 'vitest';
import { MainWindow } from './main-window.ts';
import { WindowPlaceFile } from './window-place.ts';

/** The used parts of a BrowserWindow, with its events in the order a person would cause them. */
class FakeWindow extends EventEmitter {
  readonly webContents = new EventEmitter();
  readonly options: BrowserWindowConstructorOptions;
  readonly did: string[] = [];
  bounds: Rectangle;
  seen = { visible: false, focused: false, minimized: false, maximized: false };
  isGone = false;
  fullScreen = false;

  constructor(options: BrowserWindowConstructorOptions) {
    super();
    this.options = options;
    this.bounds = { x: options.x ?? 1, y: options.y ?? 2, width: options.width ?? 0, height: options.height ?? 0 };
  }

  show(): void {
    this.seen = { ...this.seen, visible: true };
    this.emit('show');
  }
  focus(): void {
    this.seen = { ...this.seen, focused: true };
    this.emit('focus');
  }
  hide(): void {
    this.seen = { ...this.seen, visible: false, focused: false };
    this.emit('hide');
  }
  restore(): void {
    this.seen = { ...this.seen, minimized: false };
  }
  maximize(): void {
    this.seen = { ...this.seen, maximized: true };
  }
  loadURL(url: string): Promise<void> {
    this.did.push(`load ${url}`);
    return Promise.reject(new Error('ERR_FAILED (-2)'));
  }
  reload(): void {
    this.did.push('reload');
  }
  setTitle(title: string): void {
    this.did.push(`title ${title}`);
  }
  destroy(): void {
    this.isGone = true;
    this.emit('closed');
  }
  isVisible = (): boolean => this.seen.visible;
  isFocused = (): boolean => this.seen.focused;
  isMinimized = (): boolean => this.seen.minimized;
  isMaximized = (): boolean => this.seen.maximized;
  isFullScreen = (): boolean => this.fullScreen;
  /** The system takes a moment. */
  setFullScreen(isOn: boolean): void {
    setImmediate(() => {
      this.fullScreen = isOn;
      this.emit(isOn ? 'enter-full-screen' : 'leave-full-screen');
    });
  }
  isDestroyed = (): boolean => this.isGone;
  getNormalBounds = (): Rectangle => this.bounds;
}

function rig() {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-window-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const place = new WindowPlaceFile(home);
  const screens: Rectangle[] = [{ x: 0, y: 0, width: 1920, height: 1080 }];
  const made: FakeWindow[] = [];
  const told: string[] = [];
  let isQuitting = false;
  const make = (): MainWindow => {
    const window = new MainWindow({
      create: (options) => {
        const fake = new FakeWindow(options);
        made.push(fake);
        return fake as unknown as BrowserWindow;
      },
      screens: () => screens,
      place,
      preloadFile: '/app/preload.cjs',
      page: 'app://trayclaw/',
      iconFile: null,
      isQuitting: () => isQuitting,
      isDark: () => false,
      onPage: (contents) => told.push(contents === (made.at(-1)?.webContents as unknown) ? 'page' : 'another page'),
      onPageGone: () => told.push('page gone'),
      onPageFailed: (why) => told.push(why),
      onAttentionChanged: () => told.push('attention'),
      onSessionMayEnd: () => told.push('may end'),
      onSessionEnd: () => told.push('ends'),
    });
    onTestFinished(() => window.dispose());
    return window;
  };
  const take = (): string[] => told.splice(0);
  const close = (fake: FakeWindow | undefined): boolean => {
    let isPrevented = false;
    fake?.emit('close', { preventDefault: () => (isPrevented = true) });
    return isPrevented;
  };
  return { window: make(), make, made, place, take, close, quit: () => (isQuitting = true) };
}

test('is created once, when first shown; before that it counts as hidden', () => {
  const { window, made } = rig();
  window.setTitle('unseen');
  window.reload();
  expect([window.contents, window.attention, made.length]).toEqual([null, 'hidden', 0]);
  window.show();
  window.show();
  window.setTitle('(1) TrayClaw');
  expect([made.length, made[0]?.options.show, made[0]?.did, window.contents === (made[0]?.webContents as unknown)]).toEqual([
    1,
    false,
    ['load app://trayclaw/', 'title (1) TrayClaw'],
    true,
  ]);
});

test('closed in full screen, it leaves that first, so that no empty screen stays behind', async () => {
  const { window, made, close } = rig();
  window.show();
  const [fake] = made;
  if (fake !== undefined) fake.fullScreen = true;
  expect([close(fake), window.attention]).toEqual([true, 'focused']);
  await new Promise((resolve) => setImmediate(resolve));
  expect([fake?.fullScreen, window.attention]).toEqual([false, 'hidden']);
});

test('closing hides it and saves its place; while the app quits it closes', () => {
  const { window, made, close, place, quit } = rig();
  window.show();
  const [fake] = made;
  if (fake !== undefined) fake.bounds = { x: 10, y: 20, width: 800, height: 600 };
  expect([close(fake), fake?.isGone, window.attention]).toEqual([true, false, 'hidden']);
  expect(place.read([{ x: 0, y: 0, width: 1000, height: 1000 }])).toEqual({ x: 10, y: 20, width: 800, height: 600, maximized: false });
  window.show();
  expect([window.attention, made.length]).toEqual(['focused', 1]);
  quit();
  expect(close(fake)).toBe(false);
});

test('returns to its last place, maximised if it was', () => {
  const { window, make, made } = rig();
  window.show();
  const [first] = made;
  if (first !== undefined) first.bounds = { x: 300, y: 200, width: 900, height: 700 };
  first?.maximize();
  window.dispose();
  make().show();
  const { x, y, width, height } = made[1]?.options ?? {};
  expect([{ x, y, width, height }, made[1]?.seen.maximized]).toEqual([{ x: 300, y: 200, width: 900, height: 700 }, true]);
});

test('abandon() saves the place, and the next window is new', () => {
  const { window, made, place } = rig();
  window.abandon();
  window.show();
  if (made[0] !== undefined) made[0].bounds = { x: 10, y: 20, width: 800, height: 600 };
  window.abandon();
  expect([made[0]?.isGone, window.contents, window.attention]).toEqual([true, null, 'hidden']);
  expect(place.read([{ x: 0, y: 0, width: 1000, height: 1000 }])).toEqual({ x: 10, y: 20, width: 800, height: 600, maximized: false });
  window.show();
  expect([made.length, made[1]?.options.x, window.attention]).toEqual([2, 10, 'focused']);
});

test('does not save the place of a minimised window', () => {
  const { window, made, close, place } = rig();
  window.show();
  const [fake] = made;
  if (fake !== undefined) Object.assign(fake, { bounds: { x: -32_000, y: -32_000, width: 160, height: 28 } });
  if (fake !== undefined) fake.seen = { ...fake.seen, minimized: true, focused: false };
  // The system reports the minimised window as visible, but the person cannot see it.
  expect([window.attention, close(fake), place.read([{ x: -40_000, y: -40_000, width: 80_000, height: 80_000 }])]).toEqual([
    'hidden',
    true,
    null,
  ]);
  window.show();
  expect(window.attention).toBe('focused');
});

test('reports every change of visibility, and the end of the window', () => {
  const { window, made, take } = rig();
  window.show();
  take();
  for (const event of ['blur', 'focus', 'hide', 'show', 'minimize', 'restore']) made[0]?.emit(event);
  expect(take()).toEqual(Array.from({ length: 6 }, () => 'attention'));
  made[0]?.destroy();
  expect([take(), window.attention]).toEqual([['page gone', 'attention'], 'hidden']);
});

test('reports reloads and crashes, but not navigation in the page or in frames', () => {
  const { window, made, take } = rig();
  window.show();
  take();
  const page = made[0]?.webContents;
  page?.emit('did-start-navigation', { isMainFrame: true, isSameDocument: true });
  page?.emit('did-start-navigation', { isMainFrame: false, isSameDocument: false });
  expect(take()).toEqual([]);
  page?.emit('did-start-navigation', { isMainFrame: true, isSameDocument: false });
  page?.emit('render-process-gone', {}, { reason: 'clean-exit' });
  expect(take()).toEqual(['page gone', 'page gone']);
  page?.emit('render-process-gone', {}, { reason: 'oom' });
  page?.emit('did-fail-load', {}, -6, 'ERR_FILE_NOT_FOUND', 'app://trayclaw/', true);
  page?.emit('did-fail-load', {}, -3, 'ERR_ABORTED', 'app://trayclaw/', true);
  page?.emit('did-fail-load', {}, -6, 'ERR_FILE_NOT_FOUND', 'app://trayclaw/x', false);
  expect(take()).toEqual(['page gone', 'the page ended (oom)', 'the page could not be loaded (ERR_FILE_NOT_FOUND)']);
});

test('on Windows reports that the session may end and that it ends', () => {
  const { window, made, take } = rig();
  window.show();
  take();
  made[0]?.emit('query-session-end', {});
  made[0]?.emit('session-end', {});
  expect(take()).toEqual(['may end', 'ends']);
});
