// Tracks whether a part of a view is running an action of the person. A failure becomes a notice.

export class Doing {
  busy = $state(false);
  readonly #attempt: (work: () => Promise<unknown>) => Promise<boolean>;
  readonly #after: () => Promise<unknown>;

  /** `after` runs after each action, also after a failure, for example to reload the view. */
  constructor(attempt: (work: () => Promise<unknown>) => Promise<boolean>, after = async (): Promise<unknown> => undefined) {
    this.#attempt = attempt;
    this.#after = after;
  }

  /** Resolves to false if it failed. */
  async run(work: () => Promise<unknown>): Promise<boolean> {
    this.busy = true;
    const done = await this.#attempt(work);
    await this.#after();
    this.busy = false;
    return done;
  }
}
