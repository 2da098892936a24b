// Counts what happened within a period of time, by name, for limits of how often something may happen. In memory only: a restart resets it.

import type { Clock } from './clock.ts';
import { NewestMap } from './newest-map.ts';

const NAMES_MAX = 1_000;

export class RecentTimes {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #withinMs: number;
  readonly #times = new NewestMap<string, readonly number[]>(NAMES_MAX);

  constructor(clock: Pick<Clock, 'monotonicMs'>, withinMs: number) {
    this.#clock = clock;
    this.#withinMs = withinMs;
  }

  count(name = ''): number {
    return this.#of(name).length;
  }

  add(name = ''): void {
    this.#times.set(name, [...this.#of(name), this.#clock.monotonicMs()]);
  }

  /** The whole seconds until the count becomes smaller, at least one. */
  secondsLeft(name = ''): number {
    const [oldestMs = 0] = this.#of(name);
    return Math.max(1, Math.ceil((oldestMs + this.#withinMs - this.#clock.monotonicMs()) / 1000));
  }

  #of(name: string): readonly number[] {
    const sinceMs = this.#clock.monotonicMs() - this.#withinMs;
    return (this.#times.get(name) ?? []).filter((atMs) => atMs > sinceMs);
  }
}
