// The first load of a view: keeps the failure, to be shown in place of the list with a way to retry. A later failure becomes a notice. Does
// not keep the loaded data.

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
    app.notices.leaveTo(() => this.failure);
  }

  /** Resolves to false if it failed. */
  async run(work: () => Promise<unknown>): Promise<boolean> {
    this.#last = work;
    const done = await this.#app.attempt(work, (cause) => {
      if (this.#hasRead()) this.#app.notices.fail(cause);
      else this.failure = toOpFailure(cause);
    });
    if (done) this.failure = null;
    return done;
  }

  /** For a view that loads every second: after the first load has failed, waits for the person to retry. */
  async each(work: () => Promise<unknown>): Promise<void> {
    // After the first load, the banner above says if the host is away.
    if (this.#hasRead()) await work();
    else if (this.failure === null) await this.run(work);
  }

  /** Repeats the last load. */
  async again(): Promise<boolean> {
    this.busy = true;
    const done = await this.run(this.#last);
    this.busy = false;
    return done;
  }
}
