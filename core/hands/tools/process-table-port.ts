// The system's list of running processes, as a port. Sends no signals.

import type { SpawnRecord } from '../../contracts/tools.ts';

export interface ProcessRow extends SpawnRecord {
  readonly parentPid: number;
  readonly groupId: number;
  /** 0 where the system does not tell. */
  readonly sessionId: number;
  /** True for an ended process that only waits to be collected. */
  readonly isDead: boolean;
  /** True when its environment contains one of the requested markers. */
  readonly isMarked: boolean;
}

export interface ProcessTable {
  /**
   * Every process, and which of them carry one of `markers` (`NAME=value` texts) in their environment. Those in `judged` (pid to start
   * time) were checked before: their environment need not be read again.
   */
  list(markers: readonly string[], judged?: ReadonlyMap<number, string>): readonly ProcessRow[] | Promise<readonly ProcessRow[]>;
  /** The start time, which identifies a process uniquely together with its pid, even if it has just ended; null when there is none. */
  startTimeOf(pid: number): string | null;
  /** The processes (pid to start time) that still run; zombies do not count. */
  alive(processes: ReadonlyMap<number, string>): readonly number[];
}
