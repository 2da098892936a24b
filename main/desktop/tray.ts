// The tray icon, its menu and its tooltip. Every change sets a new menu, because a Linux tray ignores changes of an existing one; an
// unchanged menu is not set again, because that would close an open one.

import type { Menu, MenuItemConstructorOptions, NativeImage, Tray } from 'electron';
import { activityOf, type DesktopStatus } from './desktop-status.ts';
import { trayMenu, trayTooltip, type TrayActions, type TrayMenuFacts } from './tray-menu.ts';
import type { TrayIcons } from './tray-icons.ts';

export interface TrayPartOptions {
  readonly create: (image: NativeImage) => Tray;
  readonly buildMenu: (items: MenuItemConstructorOptions[]) => Menu;
  readonly icons: Pick<TrayIcons, 'of'>;
  readonly actions: TrayActions;
  readonly platform: NodeJS.Platform;
  readonly facts: () => Omit<TrayMenuFacts, 'status'>;
  /** Repeats `work` until the returned function is called. */
  readonly every: (ms: number, work: () => void) => () => void;
}

/** The animation of `working` is slower than twice a second, so that it is noticeable but not distracting. */
const FRAME_MS = 600;
const FRAMES = 3;

/** The constructor throws on a desktop without a tray; the app is then used through its window. */
export class TrayPart {
  readonly #options: TrayPartOptions;
  readonly #tray: Tray;
  #status: DesktopStatus;
  #shownMenu = '';
  #frame = 0;
  #stopFrames: (() => void) | null = null;

  constructor(options: TrayPartOptions, status: DesktopStatus) {
    this.#options = options;
    this.#status = status;
    this.#tray = options.create(options.icons.of(activityOf(status), status.approvals.length));
    // On macOS the same click opens the menu. On Linux the desktop decides what activates an icon, often a double click.
    if (options.platform !== 'darwin') this.#tray.on('click', () => options.actions.open());
    this.show(status);
  }

  show(status: DesktopStatus): void {
    this.#status = status;
    this.#move(activityOf(status) === 'working');
    this.#draw();
    this.#tray.setToolTip(trayTooltip(status));
    this.#setMenu();
  }

  /** Reads the menu's other inputs and the desktop's colours again. */
  refresh(): void {
    // Set the menu even if it is unchanged: a click on a checkbox has already changed its mark.
    this.#shownMenu = '';
    this.show(this.#status);
  }

  dispose(): void {
    this.#move(false);
    this.#tray.destroy();
  }

  #setMenu(): void {
    const { buildMenu, actions, facts } = this.#options;
    const items = trayMenu({ status: this.#status, ...facts() }, actions);
    const shown = JSON.stringify(items);
    if (shown === this.#shownMenu) return;
    this.#shownMenu = shown;
    this.#tray.setContextMenu(buildMenu(items));
  }

  #draw(): void {
    this.#tray.setImage(this.#options.icons.of(activityOf(this.#status), this.#status.approvals.length, this.#frame));
  }

  #move(isMoving: boolean): void {
    if (isMoving === (this.#stopFrames !== null)) return;
    this.#stopFrames?.();
    this.#stopFrames = null;
    this.#frame = 0;
    if (!isMoving) return;
    this.#stopFrames = this.#options.every(FRAME_MS, () => {
      this.#frame = (this.#frame + 1) % FRAMES;
      this.#draw();
    });
  }
}
