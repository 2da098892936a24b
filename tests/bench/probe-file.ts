// Reads what tests/bench/workers/main-thread-probe.ts recorded about a process.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const script = new URL('./workers/main-thread-probe.ts', import.meta.url).href;
const WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 10;

export interface Holdups {
  readonly beats: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Blocks of the main thread longer than 16 ms. */
  readonly long: readonly Holdup[];
}

/** `barrierMs` is the time spent in commits and checkpoints, including their work and queueing. */
export interface Holdup {
  readonly wallMs: number;
  readonly workMs: number;
  readonly queueMs: number;
  readonly barrierMs: number;
}

export type HoldupCause = 'work' | 'processor' | 'disk' | 'other';

/** The main cause of a blocked main thread. */
export function causeOf({ wallMs, workMs, queueMs, barrierMs }: Holdup): HoldupCause {
  const asleepMs = Math.max(0, wallMs - workMs - queueMs);
  const diskMs = Math.min(asleepMs, barrierMs);
  const parts = { work: workMs, processor: queueMs, disk: diskMs, other: asleepMs - diskMs };
  const causes = Object.keys(parts) as HoldupCause[];
  return causes.reduce((most, cause) => (parts[cause] > parts[most] ? cause : most), 'work');
}

export class ProbeFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
    writeFileSync(path, '');
  }

  /** Environment variables for the measured process. */
  get env(): Readonly<Record<string, string>> {
    return { TRAYCLAW_PROBE: this.path, NODE_OPTIONS: `--import=${script}` };
  }

  /** Milliseconds since the Unix epoch; NaN if the mark was never set. */
  mark(name: string): number {
    return this.#lines<{ mark?: string; atMs?: number }>().find((line) => line.mark === name)?.atMs ?? Number.NaN;
  }

  /** Resolves to the times during which the process was blocked while `work` ran. */
  async during(pid: number, work: () => Promise<void>): Promise<Holdups> {
    const before = this.#holdups().length;
    process.kill(pid, 'SIGUSR2');
    await work();
    process.kill(pid, 'SIGUSR2');
    for (let waitedMs = 0; waitedMs < WITHIN_MS; waitedMs += LOOK_EVERY_MS) {
      const found = this.#holdups()[before];
      if (found !== undefined) return found;
      await sleep(LOOK_EVERY_MS);
    }
    throw new Error(`process ${pid} said nothing of its main thread`);
  }

  #holdups(): Holdups[] {
    return this.#lines<Partial<Holdups>>().filter((line): line is Holdups => line.beats !== undefined);
  }

  #lines<T>(): T[] {
    if (!existsSync(this.path)) return [];
    const whole = readFileSync(this.path, 'utf8').split('\n').slice(0, -1);
    return whole.map((line) => JSON.parse(line) as T);
  }
}
