// Kills a process of a crash test at a named point, so that nothing after it happens.

/** Kills this process without any clean-up at the nth visit to the point; never without a point. */
export class Killer {
  readonly #point: string | null;
  readonly #tell: (point: string) => void;
  #left: number;
  isArmed: boolean;

  constructor(
    options: { readonly point: string | null; readonly nth: number; readonly armedFromStart: boolean },
    tell: (point: string) => void,
  ) {
    this.#point = options.point;
    this.#left = options.nth;
    this.isArmed = options.armedFromStart;
    this.#tell = tell;
  }

  reach(point: string): void {
    if (!this.isArmed || point !== this.#point) return;
    this.#left -= 1;
    if (this.#left > 0) return;
    this.#tell(point);
    process.kill(process.pid, 'SIGKILL');
    // The signal may take a moment to arrive, and nothing may happen meanwhile.
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
}
