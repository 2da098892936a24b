// Times turns and replays of one subject and computes overheads. The only definition of overhead.

import { replay, readLane, type RecordedCall } from '../model-server/model-server.ts';
import { median, quantile } from '../statistics.ts';
import { prompt, type Subject } from '../subjects/subject.ts';

export interface Samples {
  readonly wallMs: number[];
  readonly syncMs: number[];
  readonly replayMs: number[];
  turnCpuMs: number;
  replayCpuMs: number;
}

/** Milliseconds. An overhead is a turn without its disk waits, minus the replay; it may be negative. */
export interface Overhead {
  readonly turns: number;
  readonly wallP50: number;
  readonly replayP50: number;
  readonly overheadP50: number;
  readonly overheadP99: number;
  /** From the fastest tenth of both samples, which a busy machine distorts least. */
  readonly overheadP10: number;
  /** CPU time of a turn minus that of a replay: all threads, including the kernel's part and disk waits. */
  readonly cpuOverhead: number;
  readonly syncP50: number;
  readonly withSyncP50: number;
}

export const createSamples = (): Samples => ({ wallMs: [], syncMs: [], replayMs: [], turnCpuMs: 0, replayCpuMs: 0 });

export async function timeTurn(samples: Samples, subject: Subject, turn: number): Promise<void> {
  const cpuStart = process.cpuUsage();
  const syncBeforeMs = subject.syncMs();
  const startedMs = performance.now();
  await subject.turn(prompt(turn));
  samples.wallMs.push(performance.now() - startedMs);
  samples.syncMs.push(subject.syncMs() - syncBeforeMs);
  samples.turnCpuMs += cpuMsSince(cpuStart);
}

/** Replays the lane's last turn. */
export async function timeReplays(samples: Samples, lane: { origin: string; lane: string }, count: number): Promise<void> {
  const { lastTurn } = await readLane(lane.origin, lane.lane);
  for (let i = 0; i < count; i++) await timeReplay(samples, lane.origin, lastTurn);
}

async function timeReplay(samples: Samples, origin: string, calls: readonly RecordedCall[]): Promise<void> {
  const cpuStart = process.cpuUsage();
  const startedMs = performance.now();
  await replay(origin, calls);
  samples.replayMs.push(performance.now() - startedMs);
  samples.replayCpuMs += cpuMsSince(cpuStart);
}

export function overheadOf({ wallMs, syncMs, replayMs, turnCpuMs, replayCpuMs }: Samples): Overhead {
  const ownMs = wallMs.map((ms, index) => ms - (syncMs[index] ?? 0));
  const replayP50 = median(replayMs);
  return {
    turns: wallMs.length,
    wallP50: median(wallMs),
    replayP50,
    overheadP50: median(ownMs) - replayP50,
    overheadP99: quantile(ownMs, 0.99) - replayP50,
    overheadP10: quantile(ownMs, 0.1) - quantile(replayMs, 0.1),
    cpuOverhead: turnCpuMs / wallMs.length - replayCpuMs / replayMs.length,
    syncP50: median(syncMs),
    withSyncP50: median(wallMs) - replayP50,
  };
}

function cpuMsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
