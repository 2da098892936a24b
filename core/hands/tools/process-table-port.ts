// The system's list of running processes, as a port. Sends no signals.

import type { SpawnRecord } from '../../contracts/tools.ts';

export interface ProcessRow extends SpawnRecord {
  readonly parentPid: number;
  readonly groupId: number;
  /** 0 where the system does not tell. */
  readonly sessionId: number;
  /** True for one that has ended and only waits to be collected. */
  readonly isDead: boolean;
  /** True when its environment holds one of the markers that were asked for. */
  readonly isMarked: boolean;
}

export interface ProcessTable {
  /**
   * Every process, and which of them carry one of `markers` (`NAME=value` texts) in their environment. Those in `judged` (pid to start
   * time) were checked before: their environment need not be read again.
   */
  list(markers: readonly string[], judged?: ReadonlyMap<number, string>): readonly ProcessRow[] | Promise<readonly ProcessRow[]>;
  /** The start time that with the pid names a process for good, also of one that has just ended; null when there is none. */
  startTimeOf(pid: number): string | null;
  /** Which of these (pid to start time) still run; one that only waits to be collected does not. */
  alive(processes: ReadonlyMap<number, string>): readonly number[];
}
