// The tray icon, its menu and its tooltip, set anew with every change: a Linux tray takes in no change of a menu it already has.

import type { Menu, MenuItemConstructorOptions, NativeImage, Tray } from 'electron';
import { activityOf, type DesktopStatus } from './desktop-status.ts';
import { trayMenu, trayTooltip, type TrayActions, type TrayMenuFacts } from './tray-menu.ts';
import type { TrayIcons } from './tray-icons.ts';

export interface TrayPartOptions {
  create(image: NativeImage): Tray;
  buildMenu(items: MenuItemConstructorOptions[]): Menu;
  readonly icons: TrayIcons;
  readonly actions: TrayActions;
  readonly platform: NodeJS.Platform;
  facts(): Omit<TrayMenuFacts, 'status'>;
}

/** A desktop without a tray refuses to make one; the window is then the only way, and always there. */
export class TrayPart {
  readonly #options: TrayPartOptions;
  readonly #tray: Tray;
  #status: DesktopStatus;

  constructor(options: TrayPartOptions, status: DesktopStatus) {
    this.#options = options;
    this.#status = status;
    this.#tray = options.create(options.icons.of(activityOf(status), status.approvals.length));
    // On Linux a tray with a menu reports no clicks, elsewhere a click opens the window.
    if (options.platform !== 'linux') this.#tray.on('click', () => options.actions.open());
    this.show(status);
  }

  show(status: DesktopStatus): void {
    this.#status = status;
    this.refresh();
  }

  /** Looks again at what else the menu shows, and at the colours of the desktop. */
  refresh(): void {
    const { icons, buildMenu, actions, facts } = this.#options;
    const status = this.#status;
    this.#tray.setImage(icons.of(activityOf(status), status.approvals.length));
    this.#tray.setToolTip(trayTooltip(status));
    this.#tray.setContextMenu(buildMenu(trayMenu({ status, ...facts() }, actions)));
  }

  dispose(): void {
    this.#tray.destroy();
  }
}
