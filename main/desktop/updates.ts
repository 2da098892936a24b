// Updates by electron-updater, only from the feed a person configured; without one nothing is ever asked of the network. What was
// downloaded is installed when the app quits, never under running work.

import type { Logger } from '../../core/base/logger.ts';

/** The part of electron-updater used here. */
export interface UpdaterCalls {
  autoDownload: boolean;
  autoInstallOnAppQuit: boolean;
  setFeedURL(feed: { provider: 'generic'; url: string }): void;
  checkForUpdates(): Promise<unknown>;
  on(event: 'update-downloaded', listener: (info: { version: string }) => void): unknown;
  on(event: 'error', listener: (cause: Error) => void): unknown;
}

export interface UpdatesOptions {
  readonly feedUrl: string | null;
  /** Loaded only where there is a feed. */
  readonly load: () => Promise<UpdaterCalls>;
  readonly logger: Logger;
  readonly onReady: (version: string) => void;
}

const FIRST_CHECK_MS = 60_000;
const EVERY_MS = 6 * 3_600_000;

export class Updates {
  readonly #options: UpdatesOptions;
  #timer: NodeJS.Timeout | null = null;
  #updater: Promise<UpdaterCalls | null> | null = null;

  constructor(options: UpdatesOptions) {
    this.#options = options;
    const { feedUrl } = options;
    if (feedUrl !== null) this.#later(FIRST_CHECK_MS, feedUrl);
  }

  dispose(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #prepare(url: string): Promise<UpdaterCalls | null> {
    const { load, logger, onReady } = this.#options;
    try {
      const updater = await load();
      updater.autoDownload = true;
      updater.autoInstallOnAppQuit = true;
      updater.setFeedURL({ provider: 'generic', url });
      updater.on('update-downloaded', ({ version }) => onReady(version));
      updater.on('error', (cause) => logger.log('warn', 'an update failed', { cause: cause.message }));
      return updater;
    } catch (cause) {
      logger.log('warn', 'updates are not available', { cause: String(cause) });
      return null;
    }
  }

  #later(ms: number, feedUrl: string): void {
    this.#timer = setTimeout(() => {
      // Reported through the error event.
      this.#updater ??= this.#prepare(feedUrl);
      void this.#updater.then((ready) => ready?.checkForUpdates()).catch(() => undefined);
      this.#later(EVERY_MS, feedUrl);
    }, ms).unref();
  }
}
