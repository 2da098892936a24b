// Ends a process of a crash test at a named place, so that nothing after it happens.

/** Ends this process without a chance to do anything, at the nth reach of the point; with no point it never does. */
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
    // The signal may take a moment; nothing may happen in it.
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
}
