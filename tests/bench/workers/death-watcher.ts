// Watches processes from outside while the runtime stops them, so that the measured process does not measure itself. Receives pids over the
// channel, reports that it is watching, then reports when the last one was gone, on the clock that all processes of the machine share.

import { setImmediate as nextRound } from 'node:timers/promises';
import { isAlive } from '../processes.ts';

const WATCH_MS_MAX = 10_000;

export interface DeathReport {
  /** Nanoseconds of process.hrtime, as text. */
  readonly lastDeathAt: string;
  readonly survivors: readonly number[];
}

export interface WatchOrder {
  readonly pids: readonly number[];
}

process.on('message', (order: WatchOrder) => void watch(order.pids));
process.on('disconnect', () => process.exit(0));

async function watch(pids: readonly number[]): Promise<void> {
  process.send?.('watching');
  const deadlineMs = performance.now() + WATCH_MS_MAX;
  let left = pids;
  while (left.length > 0 && performance.now() < deadlineMs) {
    left = left.filter(isAlive);
    await nextRound();
  }
  const report: DeathReport = { lastDeathAt: String(process.hrtime.bigint()), survivors: left };
  process.send?.(report);
}
