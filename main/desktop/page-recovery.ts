// Reloads a page that crashed or did not load, a few times; then asks a person. The runtime is not affected.

import type { Clock } from '../../core/base/clock.ts';
import type { Logger } from '../../core/base/logger.ts';

export interface PageRecoveryOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly reload: () => void;
  /** Discards the window, so that the next time it is shown it is created again. */
  readonly leave: () => void;
  /** Resolves to true if the person wants to try again. */
  readonly ask: (why: string) => Promise<boolean>;
}

const TRIES = 3;
const WITHIN_MS = 60_000;

export class PageRecovery {
  readonly #options: PageRecoveryOptions;
  #failedAtMs: number[] = [];
  #isAsking = false;

  constructor(options: PageRecoveryOptions) {
    this.#options = options;
  }

  failed(why: string): void {
    const { clock, logger, reload } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#failedAtMs = [...this.#failedAtMs.filter((atMs) => nowMs - atMs < WITHIN_MS), nowMs];
    logger.log('error', 'the window failed', { why, times: this.#failedAtMs.length });
    if (this.#failedAtMs.length < TRIES) reload();
    else void this.#askOnce(why);
  }

  async #askOnce(why: string): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      const triesAgain = await this.#options.ask(why);
      this.#failedAtMs = [];
      if (triesAgain) this.#options.reload();
      else this.#options.leave();
    } catch (cause) {
      this.#options.logger.log('error', 'no dialog about the window could be shown', { cause: String(cause) });
    } finally {
      this.#isAsking = false;
    }
  }
}
