// Whether a part of a view is doing what a person asked of it. A failure becomes a notice.

export class Doing {
  busy = $state(false);
  readonly #attempt: (work: () => Promise<unknown>) => Promise<boolean>;

  constructor(attempt: (work: () => Promise<unknown>) => Promise<boolean>) {
    this.#attempt = attempt;
  }

  /** False when it failed. */
  async run(work: () => Promise<unknown>): Promise<boolean> {
    this.busy = true;
    const done = await this.#attempt(work);
    this.busy = false;
    return done;
  }
}
