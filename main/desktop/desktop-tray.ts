// The tray of the running app: its icons, its menu and the actions of its entries.

import { join } from 'node:path';
import type * as Electron from 'electron';
import type { Lifetimes } from '../../core/base/disposable.ts';
import type { Logger } from '../../core/base/logger.ts';
import type { Claw } from '../../core/contracts/claw.ts';
import type { Caller } from '../../core/contracts/ops.ts';
import type { ApprovalPrompter } from './approval-prompter.ts';
import type { StatusWatch } from './desktop-status.ts';
import type { IpcRouter } from './ipc-router.ts';
import { trySetLoginStart, type LoginStart } from './login-start.ts';
import type { MainWindow } from './main-window.ts';
import type { PanicKeys } from './panic-keys.ts';
import { TrayIcons } from './tray-icons.ts';
import type { TrayActions } from './tray-menu.ts';
import { TrayPart } from './tray.ts';

const trayCaller: Caller = { channel: 'tray', actor: 'the tray' };

export interface TrayOptions {
  readonly electron: Pick<typeof Electron, 'Menu' | 'nativeImage' | 'nativeTheme' | 'screen' | 'Tray'>;
  readonly claw: Pick<Claw, 'op'>;
  readonly logger: Logger;
  readonly status: StatusWatch;
  readonly panic: (by: Caller) => void;
  readonly quit: () => void;
  readonly packageRoot: string;
}

export interface TrayNeeds {
  readonly window: MainWindow;
  readonly router: IpcRouter;
  readonly prompter: ApprovalPrompter;
  readonly keys: PanicKeys;
  readonly login: LoginStart | null;
  readonly refresh: () => void;
  readonly lifetimes: Lifetimes;
}

/** Null on a desktop without tray icons; the app is then used through its window only. */
export function createTray(options: TrayOptions, needs: TrayNeeds): TrayPart | null {
  const { electron, logger, status } = options;
  const { Menu, nativeImage, nativeTheme, screen, Tray } = electron;
  const { keys, login, lifetimes } = needs;
  const icons = new TrayIcons({
    createEmpty: () => nativeImage.createEmpty(),
    platform: process.platform,
    theme: nativeTheme,
    scaleFactor: () => screen.getPrimaryDisplay().scaleFactor,
    desktops: process.env['XDG_CURRENT_DESKTOP']?.split(':') ?? [],
    folder: join(options.packageRoot, 'build', 'tray-icons'),
  });
  try {
    const part = new TrayPart(
      {
        icons,
        actions: trayActions(options, needs),
        platform: process.platform,
        create: (image) => new Tray(image),
        buildMenu: (items) => Menu.buildFromTemplate(items),
        facts: () => ({ panicKeys: keys.shown, pausables: status.pausables, startsAtLogin: login?.isOn() ?? null }),
        every,
      },
      status.status,
    );
    return lifetimes.add(part);
  } catch (cause) {
    logger.log('warn', 'this desktop takes no tray icon', { cause: String(cause) });
    return null;
  }
}

function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms).unref();
  return () => clearInterval(timer);
}

function trayActions(options: TrayOptions, { window, router, prompter, login, refresh }: TrayNeeds): TrayActions {
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
    // The menu offers only Telegram here.
    setPaused: (id, isPaused) => {
      claw.op(isPaused ? 'telegram.pause' : 'telegram.resume', {}, trayCaller).catch((cause: unknown) => {
        logger.log('error', 'a part could not be paused or resumed', { id, cause: String(cause) });
      });
    },
    setLoginStart: (isOn) => {
      trySetLoginStart(login, isOn, logger);
      // The click has already changed the check mark; this shows the actual state.
      refresh();
    },
    quit: options.quit,
  };
}
