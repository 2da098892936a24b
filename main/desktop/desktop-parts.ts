// Creates and connects the parts of the shell. Each knows only the Electron calls it is given here.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type * as Electron from 'electron';
import { systemClock } from '../../core/base/clock.ts';
import { Lifetimes } from '../../core/base/disposable.ts';
import type { Logger } from '../../core/base/logger.ts';
import type { HostedClaw } from '../../core/contracts/claw.ts';
import type { Caller } from '../../core/contracts/ops.ts';
import { appMenu } from './app-menu.ts';
import { appPage, isAppPage, serveApp } from './app-protocol.ts';
import { ApprovalPrompter } from './approval-prompter.ts';
import { guardContents } from './contents-guard.ts';
import type { StatusWatch, DesktopStatus } from './desktop-status.ts';
import { createTray } from './desktop-tray.ts';
import { OutsideLinks } from './external-links.ts';
import { IpcRouter } from './ipc-router.ts';
import { createLoginStart, mendLoginStart, trySetLoginStart, type LoginStart } from './login-start.ts';
import { MainWindow, type MainWindowOptions } from './main-window.ts';
import { holdsUp, showBox, type BoxPlace } from './message-box.ts';
import { followPageMenu } from './page-menu.ts';
import { PageRecovery } from './page-recovery.ts';
import { isWayland, PanicKeys } from './panic-keys.ts';
import { followSessionEnd } from './power.ts';
import { windowTitle } from './tray-menu.ts';
import type { TrayPart } from './tray.ts';
import { Updates } from './updates.ts';
import { WindowPlaceFile } from './window-place.ts';

const keysCaller: Caller = { channel: 'tray', actor: 'the panic keys' };

export interface PartsOptions {
  readonly electron: typeof Electron;
  readonly home: string;
  readonly packageRoot: string;
  readonly claw: HostedClaw;
  readonly logger: Logger;
  readonly status: StatusWatch;
  readonly panicKeys: string;
  readonly updateFeed: string | null;
  readonly isQuitting: () => boolean;
  readonly panic: (by: Caller) => void;
  readonly quit: () => void;
  readonly onSessionMayEnd: () => void;
  readonly onSessionEnd: () => void;
}

export interface Parts {
  readonly status: StatusWatch;
  readonly window: MainWindow;
  readonly router: IpcRouter;
  readonly keys: PanicKeys;
  readonly updates: Updates;
  /** Null on a desktop that has no tray. */
  readonly tray: TrayPart | null;
  readonly lifetimes: Lifetimes;
}

export function createParts(options: PartsOptions): Parts {
  const { electron, logger, status, packageRoot } = options;
  const { app, globalShortcut, Menu, nativeTheme, protocol, session } = electron;
  const lifetimes = new Lifetimes();
  serveApp(protocol, join(packageRoot, 'dist', 'renderer'));
  guardContents({ app, session: session.defaultSession, logger });
  const menu = appMenu(process.platform, options.quit);
  Menu.setApplicationMenu(menu === null ? null : Menu.buildFromTemplate(menu));
  const login = createLogin(options);
  mendLoginStart(login, logger);
  const keys = lifetimes.add(
    new PanicKeys({
      globalShortcut,
      accelerator: options.panicKeys,
      platform: process.platform,
      onWayland: isWayland(process.platform, process.env),
      logger,
      panic: () => options.panic(keysCaller),
    }),
  );
  const recovery = new PageRecovery({
    clock: systemClock,
    logger,
    reload: () => window.reload(),
    leave: () => window.abandon(),
    ask: (why) => askToReload(boxPlace(electron, window), why),
  });
  const router: IpcRouter = lifetimes.add(
    createRouter(options, { keys, login, windowContents: () => window.contents, onLoginStartSet: () => tray?.refresh() }),
  );
  const window: MainWindow = lifetimes.add(
    createWindow(options, {
      onPageGone: () => router.forgetPage(),
      onPageFailed: (why) => recovery.failed(why),
      onAttentionChanged: () => prompter.attentionChanged(),
    }),
  );
  if (process.platform === 'win32') lifetimes.defer(followSessionEnd((settings) => new electron.BaseWindow(settings), options));
  const openDetails = (approvalId: string): void => {
    window.show();
    router.command({ kind: 'show-approval', approvalId });
  };
  const prompter: ApprovalPrompter = lifetimes.add(createPrompter(options, window, openDetails));
  const tray: TrayPart | null = createTray(options, {
    window,
    router,
    prompter,
    keys,
    login,
    lifetimes,
    refresh: () => tray?.refresh(),
  });
  const updates = lifetimes.add(createUpdates(options));
  lifetimes.add(status);
  const show = (now: DesktopStatus): void => {
    tray?.show(now);
    window.setTitle(windowTitle(now));
    prompter.follow(now);
  };
  lifetimes.defer(status.onChange(show));
  nativeTheme.on('updated', () => tray?.refresh());
  return { status, window, router, keys, updates, tray, lifetimes };
}

interface RouterNeeds {
  readonly keys: PanicKeys;
  readonly login: LoginStart | null;
  readonly windowContents: () => Electron.WebContents | null;
  readonly onLoginStartSet: () => void;
}

function createRouter({ electron, claw, logger }: PartsOptions, { keys, login, windowContents, onLoginStartSet }: RouterNeeds): IpcRouter {
  const links = new OutsideLinks({ shell: electron.shell, clock: systemClock, logger });
  return new IpcRouter({
    ipcMain: electron.ipcMain,
    claw,
    logger,
    windowContents,
    isOwnPage: isAppPage,
    shellFacts: () => ({
      platform: process.platform,
      panicKeys: keys.shown,
      panicKeysProblem: keys.state.kind === 'refused' ? keys.state.why : null,
      startsAtLogin: login?.isOn() ?? null,
    }),
    setLoginStart: (isOn) => {
      trySetLoginStart(login, isOn, logger);
      onLoginStartSet();
    },
    openLink: (url) => links.open(url),
  });
}

function createWindow(
  options: PartsOptions,
  page: Pick<MainWindowOptions, 'onPageGone' | 'onPageFailed' | 'onAttentionChanged'>,
): MainWindow {
  const { electron, home, packageRoot } = options;
  const { BrowserWindow, clipboard, Menu, nativeTheme, screen } = electron;
  return new MainWindow({
    ...page,
    create: (settings) => new BrowserWindow(settings),
    screens: () => screen.getAllDisplays().map((display) => display.workArea),
    place: new WindowPlaceFile(home),
    preloadFile: join(packageRoot, 'dist', 'preload.cjs'),
    page: appPage,
    iconFile: existing(join(packageRoot, 'build', 'icons', 'icon.png')),
    isQuitting: options.isQuitting,
    onPage: (contents) =>
      followPageMenu(contents, {
        isMac: process.platform === 'darwin',
        showMenu: (items) => Menu.buildFromTemplate(items).popup(),
        copyText: (text) => clipboard.writeText(text),
        logger: options.logger,
      }),
    isDark: () => nativeTheme.shouldUseDarkColors,
    onSessionMayEnd: options.onSessionMayEnd,
    onSessionEnd: options.onSessionEnd,
  });
}

function createUpdates({ updateFeed, logger }: PartsOptions): Updates {
  return new Updates({
    feedUrl: updateFeed,
    logger,
    load: async () => (await import('electron-updater')).default.autoUpdater,
    later: (ms, work) => {
      const timer = setTimeout(work, ms).unref();
      return () => clearTimeout(timer);
    },
  });
}

function createLogin({ electron, packageRoot, home }: PartsOptions): LoginStart | null {
  const { app } = electron;
  const isOtherHome = app.commandLine.hasSwitch('home');
  return createLoginStart({
    app,
    platform: process.platform,
    env: process.env,
    userHome: homedir(),
    execPath: process.execPath,
    args: [...(app.isPackaged ? [] : [join(packageRoot, 'dist', 'desktop.js')]), ...(isOtherHome ? [`--home=${home}`] : [])],
  });
}

function createPrompter(options: PartsOptions, window: MainWindow, openDetails: (approvalId: string) => void): ApprovalPrompter {
  const { electron, claw, logger } = options;
  const { dialog, Notification } = electron;
  return new ApprovalPrompter({
    claw,
    logger,
    platform: process.platform,
    notify: Notification.isSupported() ? (notice) => new Notification(notice) : null,
    ask: holdsUp(process.platform) ? null : (question) => dialog.showMessageBox(question),
    attention: () => window.attention,
    openDetails,
  });
}

export function boxPlace({ dialog }: typeof Electron, window: MainWindow): BoxPlace {
  const showWindow = (): Electron.BrowserWindow | null => {
    window.show();
    return window.browserWindow;
  };
  return { dialog, platform: process.platform, showWindow };
}

async function askToReload(place: BoxPlace, why: string): Promise<boolean> {
  const { response } = await showBox(place, {
    type: 'error',
    title: 'TrayClaw',
    message: 'The window keeps failing.',
    detail: `${why}. The work continues; use the tray or the command line.`,
    buttons: ['Leave it closed', 'Try again'],
    defaultId: 1,
    cancelId: 0,
    noLink: true,
  });
  return response === 1;
}

function existing(file: string): string | null {
  return existsSync(file) ? file : null;
}
