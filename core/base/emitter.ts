// A typed event emitter. A listener that throws is reported to `onError` and does not stop the others.

export type Listener<T> = (value: T) => void;

export class Emitter<T> {
  readonly #listeners = new Set<Listener<T>>();
  readonly #onError: (cause: unknown) => void;

  constructor(onError: (cause: unknown) => void) {
    this.#onError = onError;
  }

  get size(): number {
    return this.#listeners.size;
  }

  /** Returns a function that ends the subscription. */
  on(listener: Listener<T>): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Resolves after the next value, or when the signal aborts. */
  next(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        stop();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const stop = this.on(done);
      if (signal?.aborted === true) done();
      else signal?.addEventListener('abort', done, { once: true });
    });
  }

  emit(value: T): void {
    for (const listener of this.#listeners) {
      try {
        listener(value);
      } catch (cause) {
        this.#onError(cause);
      }
    }
  }
}
