// The first read of a view: it keeps the failure for the place of the missing list, with a way to try again. A later failure becomes a notice.
// It does not hold what was read.

import { toOpFailure, type OpFailure } from '../client.ts';
import type { App } from './app.svelte.ts';

export class FirstRead {
  failure = $state.raw<OpFailure | null>(null);
  busy = $state(false);
  readonly #app: Pick<App, 'attempt' | 'notices'>;
  readonly #hasRead: () => boolean;
  #last: () => Promise<unknown> = () => Promise.resolve();

  constructor(app: Pick<App, 'attempt' | 'notices'>, hasRead: () => boolean) {
    this.#app = app;
    this.#hasRead = hasRead;
  }

  /** False when it failed. */
  async run(work: () => Promise<unknown>): Promise<boolean> {
    this.#last = work;
    const done = await this.#app.attempt(work, (cause) => {
      if (this.#hasRead()) this.#app.notices.fail(cause);
      else this.failure = toOpFailure(cause);
    });
    if (done) this.failure = null;
    return done;
  }

  /** One of the reads of a view that reads each second: after a first failure, the person tries again. */
  async each(work: () => Promise<unknown>): Promise<void> {
    // Later the banner above says that the host is away.
    if (this.#hasRead()) await work();
    else if (this.failure === null) await this.run(work);
  }

  /** The last read once more. */
  async again(): Promise<boolean> {
    this.busy = true;
    const done = await this.run(this.#last);
    this.busy = false;
    return done;
  }
}
