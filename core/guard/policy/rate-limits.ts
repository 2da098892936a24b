// Counts the allowed calls of a class or tool in the last minute. In memory only: a new start resets the counts.

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
  /** The times of the newest calls for each limited name, at most as many as its limit. */
  readonly #times = new Map<string, number[]>();

  constructor(clock: Clock, limits: Readonly<Record<string, number>>) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** The limit that one more call would break, or null. */
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

  /** A command counts as one, even if its line makes it a graver class. */
  #limitedNames({ tool, facts }: { readonly tool: string; readonly facts: CallFacts }): string[] {
    const names = [tool, facts.class, ...(facts.command === null ? [] : ['exec'])];
    return [...new Set(names)].filter((name) => Object.hasOwn(this.#limits, name));
  }
}
