// A typed event emitter. A listener that throws is reported to `onError` and never stops the others.

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

  /** Returns the function that ends the subscription. */
  on(listener: Listener<T>): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
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
