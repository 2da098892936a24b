// Counts the allowed calls per class or tool in the last minute.

import type { Clock } from '../../base/clock.ts';
import { RecentTimes } from '../../base/recent-times.ts';
import type { CallFacts } from '../../contracts/tools.ts';

export interface OverLimit {
  readonly name: string;
  readonly limit: number;
}

export class RateLimits {
  readonly #limits: Readonly<Record<string, number>>;
  readonly #calls: RecentTimes;

  constructor(clock: Clock, limits: Readonly<Record<string, number>>) {
    this.#limits = limits;
    this.#calls = new RecentTimes(clock, 60_000);
  }

  /** Returns the limit that one more call would exceed, or null. */
  over(call: { readonly tool: string; readonly facts: CallFacts }): OverLimit | null {
    for (const name of this.#limitedNames(call)) {
      const limit = this.#limits[name] ?? 0;
      if (this.#calls.count(name) >= limit) return { name, limit };
    }
    return null;
  }

  count(call: { readonly tool: string; readonly facts: CallFacts }): void {
    for (const name of this.#limitedNames(call)) this.#calls.add(name);
  }

  /** A command always counts as exec, even if its line has a graver class. */
  #limitedNames({ tool, facts }: { readonly tool: string; readonly facts: CallFacts }): string[] {
    const names = [tool, facts.class, ...(facts.command === null ? [] : ['exec'])];
    return [...new Set(names)].filter((name) => Object.hasOwn(this.#limits, name));
  }
}
