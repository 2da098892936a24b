// Counts the allowed calls per class or tool in the last minute. In memory only: a restart resets the counts.

import type { Clock } from '../../base/clock.ts';
import type { CallFacts } from '../../contracts/tools.ts';

const WINDOW_MS = 60_000;

export interface OverLimit {
  readonly name: string;
  readonly limit: number;
}

export class RateLimits {
  readonly #clock: Clock;
  readonly #limits: Readonly<Record<string, number>>;
  /** The times of the newest calls per limited name, at most as many as the limit. */
  readonly #times = new Map<string, number[]>();

  constructor(clock: Clock, limits: Readonly<Record<string, number>>) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Returns the limit that one more call would exceed, or null. */
  over(call: { readonly tool: string; readonly facts: CallFacts }): OverLimit | null {
    const sinceMs = this.#clock.monotonicMs() - WINDOW_MS;
    for (const name of this.#limitedNames(call)) {
      const limit = this.#limits[name] ?? 0;
      const recent = (this.#times.get(name) ?? []).filter((atMs) => atMs > sinceMs);
      if (recent.length >= limit) return { name, limit };
    }
    return null;
  }

  count(call: { readonly tool: string; readonly facts: CallFacts }): void {
    const atMs = this.#clock.monotonicMs();
    for (const name of this.#limitedNames(call)) {
      const times = this.#times.get(name) ?? [];
      times.push(atMs);
      this.#times.set(name, times.slice(-Math.max(1, this.#limits[name] ?? 0)));
    }
  }

  /** A command always counts as exec, even if its line has a graver class. */
  #limitedNames({ tool, facts }: { readonly tool: string; readonly facts: CallFacts }): string[] {
    const names = [tool, facts.class, ...(facts.command === null ? [] : ['exec'])];
    return [...new Set(names)].filter((name) => Object.hasOwn(this.#limits, name));
  }
}
