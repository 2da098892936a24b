// Counts messages of unpaired people. Answers each person at most once an hour, and at most 30 people an hour. Stores nothing on disk.

import type { Clock } from '../../base/clock.ts';
import { pairCommand } from './pairing.ts';
import type { ServiceNames } from './records.ts';

const HOUR_MS = 3_600_000;
const TOLD_AN_HOUR_MAX = 30;

export class Strangers {
  readonly #clock: Clock;
  readonly #line: string;
  readonly #toldAtMs = new Map<string, number>();
  count = 0;

  constructor(clock: Clock, names: Pick<ServiceNames, 'channel'>) {
    this.#clock = clock;
    this.#line = `This is a private bot. If it is yours: show a code at the computer (${pairCommand(names)}) and send it here.`;
  }

  meet(userId: string, tell: (words: string) => void): void {
    this.count += 1;
    const nowMs = this.#clock.monotonicMs();
    for (const [id, atMs] of this.#toldAtMs) if (nowMs - atMs >= HOUR_MS) this.#toldAtMs.delete(id);
    if (this.#toldAtMs.has(userId) || this.#toldAtMs.size >= TOLD_AN_HOUR_MAX) return;
    this.#toldAtMs.set(userId, nowMs);
    tell(this.#line);
  }
}
