// The parts of the shell, made and tied together. Each knows only the calls of Electron it is handed here.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type * as Electron from 'electron';
import { systemClock } from '../../core/base/clock.ts';
import { Lifetimes } from '../../core/base/disposable.ts';
import type { Logger } from '../../core/base/logger.ts';
import type { HostedClaw } from '../../core/compose.ts';
import type { Caller } from '../../core/contracts/ops.ts';
import { appMenu } from './app-menu.ts';
import { appPage, isAppPage, serveApp } from './app-protocol.ts';
import { ApprovalPrompter } from './approval-prompter.ts';
import { guardContents } from './contents-guard.ts';
import type { StatusWatch, DesktopStatus } from './desktop-status.ts';
import { openableLink } from './external-links.ts';
import { IpcRouter } from './ipc-router.ts';
import { createLoginStart, type LoginStart } from './login-start.ts';
import { MainWindow, type MainWindowOptions } from './main-window.ts';
import { PageRecovery } from './page-recovery.ts';
import { PanicKeys } from './panic-keys.ts';
import { TrayIcons } from './tray-icons.ts';
import { windowTitle, type TrayActions } from './tray-menu.ts';
import { TrayPart } from './tray.ts';
import { Updates } from './updates.ts';
import { WindowPlaceFile } from './window-place.ts';

const trayCaller: Caller = { channel: 'tray', actor: 'the tray' };
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
  /** Null on a desktop that has no tray. */
  readonly tray: TrayPart | null;
  readonly lifetimes: Lifetimes;
}

export function createParts(options: PartsOptions): Parts {
  const { electron, claw, logger, status, packageRoot } = options;
  const { app, dialog, globalShortcut, ipcMain, Menu, nativeTheme, protocol, session, shell } = electron;
  const lifetimes = new Lifetimes();
  serveApp(protocol, join(packageRoot, 'dist', 'renderer'));
  guardContents({ app, session: session.defaultSession, logger, openLink: (url) => openOutside(shell, url, logger) });
  const menu = appMenu(process.platform, options.quit);
  Menu.setApplicationMenu(menu === null ? null : Menu.buildFromTemplate(menu));
  const login = createLogin(options);
  const keys = lifetimes.add(
    new PanicKeys({
      globalShortcut,
      accelerator: options.panicKeys,
      platform: process.platform,
      logger,
      panic: () => options.panic(keysCaller),
    }),
  );
  const recovery = new PageRecovery({
    clock: systemClock,
    logger,
    reload: () => window.reload(),
    ask: (why) => askToReload(electron, why),
  });
  const router: IpcRouter = lifetimes.add(
    new IpcRouter({
      ipcMain,
      claw,
      logger,
      windowContents: () => window.contents,
      isOwnPage: isAppPage,
      shellFacts: () => ({
        platform: process.platform,
        panicKeys: keys.shown,
        panicKeysProblem: keys.state.kind === 'refused' ? keys.state.why : null,
        startsAtLogin: login?.isOn() ?? null,
      }),
      setLoginStart: (isOn) => {
        setLoginStart(login, isOn, logger);
        tray?.refresh();
      },
    }),
  );
  const window: MainWindow = lifetimes.add(
    createWindow(options, { onPageGone: () => router.forgetPage(), onPageFailed: (why) => recovery.failed(why) }),
  );
  const openDetails = (approvalId: string): void => {
    window.show();
    router.command({ kind: 'show-approval', approvalId });
  };
  const prompter = lifetimes.add(createPrompter(options, window, openDetails));
  const tray: TrayPart | null = createTray(options, { window, router, prompter, keys, login, refresh: () => tray?.refresh() });
  if (tray !== null) lifetimes.add(tray);
  lifetimes.add(createUpdates(options));
  lifetimes.add(status);
  const show = (now: DesktopStatus): void => {
    tray?.show(now);
    window.setTitle(windowTitle(now));
    prompter.follow(now);
  };
  lifetimes.defer(status.onChange(show));
  nativeTheme.on('updated', () => tray?.refresh());
  if (keys.state.kind === 'refused')
    void dialog.showMessageBox({ type: 'warning', title: 'TrayClaw', message: 'The panic keys do not work', detail: keys.state.why });
  return { status, window, router, keys, tray, lifetimes };
}

function createWindow(options: PartsOptions, page: Pick<MainWindowOptions, 'onPageGone' | 'onPageFailed'>): MainWindow {
  const { electron, home, packageRoot } = options;
  const { BrowserWindow, nativeTheme, screen } = electron;
  return new MainWindow({
    ...page,
    create: (settings) => new BrowserWindow(settings),
    screens: () => screen.getAllDisplays().map((display) => display.workArea),
    place: new WindowPlaceFile(home),
    preloadFile: join(packageRoot, 'dist', 'preload.cjs'),
    page: appPage,
    iconFile: existing(join(packageRoot, 'build', 'icons', 'icon.png')),
    isQuitting: options.isQuitting,
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
    onReady: (version) => logger.log('info', 'an update is ready and is installed when the app quits', { version }),
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

/** Asked for by a click of a person; what the link says is a model's. */
function openOutside(shell: Pick<Electron.Shell, 'openExternal'>, url: string, logger: Logger): void {
  const link = openableLink(url);
  if (link === null) {
    logger.log('warn', 'a link was not opened', { url: url.slice(0, 200) });
    return;
  }
  shell.openExternal(link).catch((cause: unknown) => {
    logger.log('warn', 'the system opened nothing for a link', { cause: String(cause) });
  });
}

function createPrompter(options: PartsOptions, window: MainWindow, openDetails: (approvalId: string) => void): ApprovalPrompter {
  const { electron, claw, logger } = options;
  const { dialog, Notification } = electron;
  return new ApprovalPrompter({
    claw,
    logger,
    notify: Notification.isSupported() ? (notice) => new Notification(notice) : null,
    ask: (question) => dialog.showMessageBox(question),
    attention: () => (window.browserWindow?.isFocused() === true ? 'focused' : window.isShown ? 'visible' : 'hidden'),
    openDetails,
  });
}

interface TrayNeeds {
  readonly window: MainWindow;
  readonly router: IpcRouter;
  readonly prompter: ApprovalPrompter;
  readonly keys: PanicKeys;
  readonly login: LoginStart | null;
  readonly refresh: () => void;
}

function createTray(options: PartsOptions, needs: TrayNeeds): TrayPart | null {
  const { electron, logger, status } = options;
  const { Menu, nativeImage, nativeTheme, Tray } = electron;
  const { keys, login } = needs;
  const icons = new TrayIcons({
    createEmpty: () => nativeImage.createEmpty(),
    platform: process.platform,
    isDark: () => nativeTheme.shouldUseDarkColors,
  });
  try {
    return new TrayPart(
      {
        icons,
        actions: trayActions(options, needs),
        platform: process.platform,
        create: (image) => new Tray(image),
        buildMenu: (items) => Menu.buildFromTemplate(items),
        facts: () => ({ panicKeys: keys.shown, pausables: [], startsAtLogin: login?.isOn() ?? null }),
        every: (ms, work) => {
          const timer = setInterval(work, ms).unref();
          return () => clearInterval(timer);
        },
      },
      status.status,
    );
  } catch (cause) {
    logger.log('warn', 'this desktop takes no tray icon', { cause: String(cause) });
    return null;
  }
}

function trayActions(options: PartsOptions, { window, router, prompter, login, refresh }: TrayNeeds): TrayActions {
  const { claw, logger } = options;
  return {
    open: () => window.show(),
    showApproval: (approvalId) => prompter.show(approvalId),
    showApprovals: () => {
      window.show();
      router.command({ kind: 'show', view: 'approvals' });
    },
    panic: () => options.panic(trayCaller),
    releasePanic: () => {
      claw.op('panic.release', {}, trayCaller).catch((cause: unknown) => {
        logger.log('error', 'the panic stop could not be released', { cause: String(cause) });
      });
    },
    // No part of the runtime works by itself yet, so the menu names none.
    setPaused: (id) => logger.log('warn', 'there is nothing of this name to pause', { id }),
    setLoginStart: (isOn) => {
      setLoginStart(login, isOn, logger);
      // The click has changed the mark already; what holds is shown.
      refresh();
    },
    quit: options.quit,
  };
}

function setLoginStart(login: LoginStart | null, isOn: boolean, logger: Logger): void {
  try {
    login?.set(isOn);
  } catch (cause) {
    logger.log('warn', 'starting at login could not be changed', { cause: String(cause) });
  }
}

async function askToReload({ dialog }: typeof Electron, why: string): Promise<boolean> {
  const { response } = await dialog.showMessageBox({
    type: 'error',
    title: 'TrayClaw',
    message: 'The window keeps failing.',
    detail: `${why}. The work behind it goes on; the tray and the command line reach it.`,
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
