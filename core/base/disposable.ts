// Lifetimes: functions that start something return a Disposable; our DisposableStack disposes in reverse and collects errors.

export interface AsyncLifetime {
  dispose(): void | Promise<void>;
}

/** Disposes its parts, last first. Every part is tried; errors are thrown together at the end. */
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
