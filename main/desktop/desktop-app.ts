// The app as a whole: starts the runtime and the parts of the shell, ties them together, and takes them down in order. Each part knows
// only the calls of Electron it is handed here.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type * as Electron from 'electron';
import { systemClock } from '../../core/base/clock.ts';
import { Lifetimes } from '../../core/base/disposable.ts';
import type { Logger } from '../../core/base/logger.ts';
import { createTrayClaw, type HostedClaw } from '../../core/compose.ts';
import { toAppError } from '../../core/contracts/errors.ts';
import type { Caller } from '../../core/contracts/ops.ts';
import { InstanceDoor } from '../../core/doors/http/http.ts';
import { createFileLogger } from '../file-logger.ts';
import { appPage, isAppPage, serveApp } from './app-protocol.ts';
import { ApprovalPrompter } from './approval-prompter.ts';
import { guardContents } from './contents-guard.ts';
import { guardAgainstCrashes } from './crash-guard.ts';
import { linkAmong, placeOfLink } from './deep-link.ts';
import { StatusWatch, type DesktopStatus } from './desktop-status.ts';
import { openableLink } from './external-links.ts';
import { IpcRouter } from './ipc-router.ts';
import { backgroundFlag, createLoginStart, type LoginStart } from './login-start.ts';
import { MainWindow } from './main-window.ts';
import { PageRecovery } from './page-recovery.ts';
import { PanicKeys } from './panic-keys.ts';
import { followPower } from './power.ts';
import { TrayIcons } from './tray-icons.ts';
import { windowTitle, type TrayActions } from './tray-menu.ts';
import { TrayPart } from './tray.ts';
import { Updates } from './updates.ts';
import { WindowPlaceFile } from './window-place.ts';

export interface DesktopAppOptions {
  readonly electron: typeof Electron;
  readonly home: string;
  readonly version: string;
  readonly packageRoot: string;
  readonly temporaryFolder: string;
}

const trayCaller: Caller = { channel: 'tray', actor: 'the tray' };
const keysCaller: Caller = { channel: 'tray', actor: 'the panic keys' };

export class DesktopApp {
  readonly #options: DesktopAppOptions;
  readonly #electron: typeof Electron;
  readonly #logger: Logger;
  readonly #lifetimes = new Lifetimes();
  #parts: Parts | null = null;
  /** A link that came before there was anything to show. */
  #firstLink: string | null = null;
  #quitting: 'no' | 'closing' | 'closed' = 'no';

  constructor(options: DesktopAppOptions) {
    this.#options = options;
    this.#electron = options.electron;
    this.#logger = createFileLogger(options.home, 'info');
  }

  /** To be called before the app is ready: these may come at any time from then on. */
  listen(): void {
    const { app } = this.#electron;
    this.#firstLink = linkAmong(process.argv);
    app.on('second-instance', (_event, argv) => {
      this.#parts?.window.show();
      const link = linkAmong(argv);
      if (link !== null) this.#openPlace(link);
    });
    app.on('open-url', (event, url) => {
      event.preventDefault();
      this.#openPlace(url);
    });
    app.on('activate', () => this.#parts?.window.show());
    // The work goes on without a window.
    app.on('window-all-closed', () => undefined);
    app.on('before-quit', (event) => {
      if (this.#quitting === 'closed') return;
      event.preventDefault();
      void this.#close();
    });
  }

  async start(): Promise<void> {
    const { dialog, app } = this.#electron;
    const { home } = this.#options;
    const stopGuard = guardAgainstCrashes({
      process,
      logger: this.#logger,
      redact: (text) => text,
      tell: (title, text) => dialog.showErrorBox(title, text),
      exit: (code) => app.exit(code),
    });
    this.#lifetimes.defer(stopGuard);
    let claw: HostedClaw;
    try {
      claw = await createTrayClaw({ home, version: this.#options.version, logger: this.#logger });
    } catch (cause) {
      const error = toAppError(cause);
      this.#logger.log('error', 'the runtime did not start', { code: error.code, cause: error.message });
      dialog.showErrorBox('TrayClaw could not start', [error.message, error.hint ?? ''].join('\n\n').trim());
      this.#quitting = 'closed';
      app.exit(1);
      return;
    }
    this.#lifetimes.defer(() => claw.close());
    await this.#openDoors(claw);
    await this.#compose(claw);
  }

  async #compose(claw: HostedClaw): Promise<void> {
    const { config } = await claw.op('config.get', {});
    const status = new StatusWatch(claw, this.#logger);
    const parts = createParts({
      ...this.#options,
      claw,
      logger: this.#logger,
      status,
      panicKeys: config.desktop.panicKeys,
      updateFeed: config.desktop.updateFeed ?? null,
      isQuitting: () => this.#quitting !== 'no',
      panic: (by) => void this.#panic(claw, by),
      quit: () => void this.#quitOnPurpose(),
    });
    this.#parts = parts;
    this.#lifetimes.add(parts.lifetimes);
    await status.start();
    this.#lifetimes.defer(followPower({ ...this.#power(claw), powerMonitor: this.#electron.powerMonitor, logger: this.#logger }));
    if (!process.argv.includes(backgroundFlag)) parts.window.show();
    if (this.#firstLink !== null) this.#openPlace(this.#firstLink);
  }

  /** Other processes of the person, such as the command line, reach the runtime through here. */
  async #openDoors(claw: HostedClaw): Promise<void> {
    const { home, version, temporaryFolder } = this.#options;
    const door = new InstanceDoor({
      home,
      claw,
      version,
      temporaryFolder,
      pid: process.pid,
      clock: systemClock,
      logger: this.#logger,
      assetsFolder: null,
      platform: process.platform,
    });
    await door.open();
    this.#lifetimes.add(door);
  }

  #power(claw: HostedClaw): { onSuspend(): void; onResume(): void; onShutdown(): void } {
    return {
      onSuspend: () => undefined,
      onResume: () => this.#parts?.tray?.refresh(),
      onShutdown: () => void this.#panic(claw, { channel: 'tray', actor: 'the end of the session' }),
    };
  }

  async #panic(claw: HostedClaw, by: Caller): Promise<void> {
    try {
      await claw.op('panic.engage', { reason: `Pressed: ${by.actor}.` }, by);
    } catch (cause) {
      this.#logger.log('error', 'the panic stop failed', { cause: String(cause) });
      this.#electron.dialog.showErrorBox('The panic stop failed', toAppError(cause).message);
    }
  }

  #openPlace(link: string): void {
    if (this.#parts === null) {
      this.#firstLink = link;
      return;
    }
    const place = placeOfLink(link);
    if (place === null) {
      this.#logger.log('warn', 'a link that leads nowhere was not followed', { link: link.slice(0, 200) });
      return;
    }
    this.#parts.window.show();
    this.#parts.router.command(place);
  }

  /** From the tray or the menu: with work under way a person is asked. */
  async #quitOnPurpose(): Promise<void> {
    const { dialog, app } = this.#electron;
    const running = this.#parts?.status.status.runningTurns ?? 0;
    if (running > 0) {
      const { response } = await dialog.showMessageBox({
        type: 'question',
        title: 'TrayClaw',
        message: running === 1 ? 'TrayClaw is still working.' : `TrayClaw is still working on ${running} things.`,
        detail: 'What runs is ended now. It goes on from its last recorded step at the next start.',
        buttons: ['Keep running', 'Quit'],
        defaultId: 0,
        cancelId: 0,
        noLink: true,
      });
      if (response !== 1) return;
    }
    app.quit();
  }

  async #close(): Promise<void> {
    if (this.#quitting !== 'no') return;
    this.#quitting = 'closing';
    try {
      await this.#lifetimes.dispose();
    } catch (cause) {
      this.#logger.log('error', 'a part failed to close', { cause: String(cause) });
    }
    this.#quitting = 'closed';
    this.#electron.app.quit();
  }
}

interface PartsOptions extends DesktopAppOptions {
  readonly claw: HostedClaw;
  readonly logger: Logger;
  readonly status: StatusWatch;
  readonly panicKeys: string;
  readonly updateFeed: string | null;
  isQuitting(): boolean;
  panic(by: Caller): void;
  quit(): void;
}

interface Parts {
  readonly status: StatusWatch;
  readonly window: MainWindow;
  readonly router: IpcRouter;
  /** Null on a desktop that has no tray. */
  readonly tray: TrayPart | null;
  readonly lifetimes: Lifetimes;
}

function createParts(options: PartsOptions): Parts {
  const { electron, claw, logger, status, home, packageRoot } = options;
  const { app, BrowserWindow, dialog, globalShortcut, ipcMain, nativeTheme, protocol, screen, session, shell } = electron;
  const lifetimes = new Lifetimes();
  const openLink = async (url: string): Promise<boolean> => {
    const link = openableLink(url);
    if (link === null) {
      logger.log('warn', 'a link was not opened', { url: url.slice(0, 200) });
      return false;
    }
    await shell.openExternal(link);
    return true;
  };
  serveApp(protocol, join(packageRoot, 'dist', 'renderer'));
  guardContents({ app, session: session.defaultSession, logger, openLink: (url) => void openLink(url) });
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
      shellFacts: () => ({ platform: process.platform, panicKeys: keys.shown }),
    }),
  );
  const window: MainWindow = lifetimes.add(
    new MainWindow({
      create: (settings) => new BrowserWindow(settings),
      screens: () => screen.getAllDisplays().map((display) => display.workArea),
      place: new WindowPlaceFile(home),
      preloadFile: join(packageRoot, 'dist', 'preload.cjs'),
      page: appPage,
      iconFile: existing(join(packageRoot, 'build', 'icons', 'icon.png')),
      isQuitting: options.isQuitting,
      onPageGone: () => router.forgetPage(),
      onPageFailed: (why) => recovery.failed(why),
      isDark: () => nativeTheme.shouldUseDarkColors,
    }),
  );
  const openDetails = (approvalId: string): void => {
    window.show();
    router.command({ kind: 'show-approval', approvalId });
  };
  const prompter = lifetimes.add(createPrompter(options, window, openDetails));
  const tray = createTray(options, { window, router, prompter, keys });
  if (tray !== null) lifetimes.add(tray);
  lifetimes.add(
    new Updates({
      feedUrl: options.updateFeed,
      logger,
      load: async () => (await import('electron-updater')).default.autoUpdater,
      onReady: (version) => logger.log('info', 'an update is ready and is installed when the app quits', { version }),
    }),
  );
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
  return { status, window, router, tray, lifetimes };
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
}

function createTray(options: PartsOptions, { window, router, prompter, keys }: TrayNeeds): TrayPart | null {
  const { electron, claw, logger, status } = options;
  const { app, Menu, nativeImage, nativeTheme, Tray } = electron;
  const login = createLoginStart({
    app,
    platform: process.platform,
    env: process.env,
    userHome: homedir(),
    execPath: process.execPath,
    args: app.isPackaged ? [] : [app.getAppPath()],
  });
  let made: TrayPart | null = null;
  const actions: TrayActions = {
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
    setLoginStart: (isOn) => {
      setLoginStart(login, isOn, logger);
      made?.refresh();
    },
    quit: options.quit,
  };
  const icons = new TrayIcons({
    createEmpty: () => nativeImage.createEmpty(),
    platform: process.platform,
    isDark: () => nativeTheme.shouldUseDarkColors,
  });
  try {
    made = new TrayPart(
      {
        icons,
        actions,
        platform: process.platform,
        create: (image) => new Tray(image),
        buildMenu: (items) => Menu.buildFromTemplate(items),
        facts: () => ({ panicKeys: keys.shown, startsAtLogin: login === null ? null : login.isOn() }),
      },
      status.status,
    );
    return made;
  } catch (cause) {
    logger.log('warn', 'this desktop takes no tray icon', { cause: String(cause) });
    return null;
  }
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
