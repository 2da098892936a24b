// Lifetimes of parts that are started and must be closed. `Lifetimes` disposes them in reverse order and collects errors.

export interface AsyncLifetime {
  dispose(): void | Promise<void>;
}

/** Disposes its parts in reverse order. Every part is disposed; errors are thrown together at the end. */
export class Lifetimes implements AsyncLifetime {
  readonly #parts: AsyncLifetime[] = [];
  #disposed = false;

  add<T extends AsyncLifetime>(part: T): T {
    this.#parts.push(part);
    return part;
  }

  defer(dispose: () => void | Promise<void>): void {
    this.#parts.push({ dispose });
  }

  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    const failures: unknown[] = [];
    for (const part of this.#parts.reverse()) {
      try {
        await part.dispose();
      } catch (cause) {
        failures.push(cause);
      }
    }
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1) throw new AggregateError(failures, 'several parts failed to close');
  }
}
