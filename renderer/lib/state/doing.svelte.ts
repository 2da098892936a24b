// Whether a part of a view is doing what a person asked of it. A failure becomes a notice.

export class Doing {
  busy = $state(false);
  readonly #attempt: (work: () => Promise<unknown>) => Promise<boolean>;
  readonly #after: () => Promise<unknown>;

  /** `after` runs at the end of each, also after a failure: a view is read again. */
  constructor(attempt: (work: () => Promise<unknown>) => Promise<boolean>, after = async (): Promise<unknown> => undefined) {
    this.#attempt = attempt;
    this.#after = after;
  }

  /** False when it failed. */
  async run(work: () => Promise<unknown>): Promise<boolean> {
    this.busy = true;
    const done = await this.#attempt(work);
    await this.#after();
    this.busy = false;
    return done;
  }
}
