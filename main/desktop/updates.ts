// Updates by electron-updater, only from the feed a person configured; without one it makes no network request. Never installs an older
// version, nor one with a wrong signature or checksum, and installs only when the app quits, never during work.

import type { Logger } from '../../core/base/logger.ts';
import type { Finding } from '../../core/contracts/health.ts';

/** The parts of electron-updater used here. */
export interface UpdaterCalls {
  autoDownload: boolean;
  autoInstallOnAppQuit: boolean;
  allowDowngrade: boolean;
  allowPrerelease: boolean;
  disableWebInstaller: boolean;
  setFeedURL(feed: { provider: 'generic'; url: string }): void;
  checkForUpdates(): Promise<unknown>;
  on(event: 'update-available', listener: (info: { version: string }) => void): unknown;
  on(event: 'update-not-available', listener: (info: { version: string }) => void): unknown;
  on(event: 'update-downloaded', listener: (info: { version: string }) => void): unknown;
  on(event: 'error', listener: (cause: Error) => void): unknown;
}

export interface UpdatesOptions {
  readonly feedUrl: string | null;
  /** Called only if a feed is configured. */
  readonly load: () => Promise<UpdaterCalls>;
  readonly logger: Logger;
  /** Calls `work` once, unless the returned function is called first. */
  readonly later: (ms: number, work: () => void) => () => void;
}

export type UpdateState =
  | { readonly kind: 'off' }
  /** No newer version, or not checked yet. */
  | { readonly kind: 'current' }
  | { readonly kind: 'loading'; readonly version: string }
  | { readonly kind: 'ready'; readonly version: string }
  /** `isForged`: the offered file has a wrong signature or checksum. */
  | { readonly kind: 'failed'; readonly why: string; readonly isForged: boolean };

const FIRST_CHECK_MS = 60_000;
const EVERY_MS = 6 * 3_600_000;
/** electron-updater's codes for a modified file, which it has already deleted. */
const forgeries: ReadonlySet<string> = new Set(['ERR_UPDATER_INVALID_SIGNATURE', 'ERR_CHECKSUM_MISMATCH']);

export class Updates {
  readonly #options: UpdatesOptions;
  #state: UpdateState = { kind: 'off' };
  #stop: (() => void) | null = null;
  #updater: UpdaterCalls | null = null;

  constructor(options: UpdatesOptions) {
    this.#options = options;
    const { feedUrl } = options;
    if (feedUrl === null) return;
    // Over plain HTTP, an attacker on the network could offer any program.
    if (URL.parse(feedUrl)?.protocol === 'https:') this.#later(FIRST_CHECK_MS, feedUrl);
    else this.#fail('Updates are taken over https only.', false);
  }

  get state(): UpdateState {
    return this.#state;
  }

  dispose(): void {
    this.#stop?.();
    this.#stop = null;
  }

  #later(ms: number, feedUrl: string): void {
    if (this.#state.kind === 'off') this.#state = { kind: 'current' };
    this.#stop = this.#options.later(ms, () => {
      this.#later(EVERY_MS, feedUrl);
      void this.#check(feedUrl);
    });
  }

  async #check(feedUrl: string): Promise<void> {
    // A version waiting for the app to quit is kept; a forged one is not requested again.
    if (this.#state.kind === 'ready' || (this.#state.kind === 'failed' && this.#state.isForged)) return;
    try {
      this.#updater ??= this.#prepare(await this.#options.load(), feedUrl);
      await this.#updater.checkForUpdates();
    } catch (cause) {
      // An error of the updater is also reported through its error event; reporting it once is enough.
      if (this.#state.kind !== 'failed') this.#failed(cause);
    }
  }

  #prepare(updater: UpdaterCalls, url: string): UpdaterCalls {
    updater.autoDownload = true;
    updater.autoInstallOnAppQuit = true;
    updater.allowPrerelease = false;
    // A web installer loads code that no signature covers.
    updater.disableWebInstaller = true;
    updater.setFeedURL({ provider: 'generic', url });
    // Set after the feed, because naming a channel in the feed enables downgrades.
    updater.allowDowngrade = false;
    updater.on('update-available', ({ version }) => (this.#state = { kind: 'loading', version }));
    updater.on('update-not-available', () => (this.#state = { kind: 'current' }));
    updater.on('update-downloaded', ({ version }) => {
      this.#state = { kind: 'ready', version };
      this.#options.logger.log('info', 'an update is ready and is installed when the app quits', { version });
    });
    updater.on('error', (cause) => this.#failed(cause));
    return updater;
  }

  #failed(cause: unknown): void {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    if (forgeries.has(code)) this.#fail('What the feed sent is not what its makers signed or announced. It was thrown away.', true);
    else this.#fail(cause instanceof Error ? cause.message : String(cause), false);
  }

  #fail(why: string, isForged: boolean): void {
    this.#state = { kind: 'failed', why, isForged };
    this.#options.logger.log(isForged ? 'error' : 'warn', 'an update failed', { why });
  }
}

/** For the health check: null if updates are off. */
export function updatesCheck(state: UpdateState): Finding | null {
  const id = 'updates';
  switch (state.kind) {
    case 'off':
      return null;
    case 'current':
      return { id, ok: true, detail: 'This is the newest version the feed offers, as far as it was asked.' };
    case 'loading':
      return { id, ok: true, detail: `Version ${state.version} is being fetched.` };
    case 'ready':
      return { id, ok: true, detail: `Version ${state.version} is installed when TrayClaw quits.` };
    case 'failed':
      return {
        id,
        ok: false,
        detail: state.why,
        fix: state.isForged
          ? 'Do not install it by hand. Take desktop.updateFeed out of config.yaml and ask who runs the feed.'
          : 'Check desktop.updateFeed in config.yaml; the next try is in six hours.',
      };
  }
}
