// The system's list of running processes, as a port. Sends no signals.

import type { SpawnRecord } from '../../contracts/tools.ts';

export interface ProcessRow extends SpawnRecord {
  readonly parentPid: number;
  readonly groupId: number;
  /** 0 if the system does not report it. */
  readonly sessionId: number;
  /** The mount namespace, if it hides the data folder, as for commands started by bubblewrap. A process cannot leave it. */
  readonly shield?: string | undefined;
  /** True for a zombie: an ended process that was not reaped yet. */
  readonly isDead: boolean;
  /** True if its environment contains one of the requested markers. */
  readonly isMarked: boolean;
}

export interface ProcessTable {
  /**
   * Lists every process, and which of them carry one of `markers` (`NAME=value` texts) in their environment. Processes in `judged` (pid to
   * start time) were checked before, so their environment does not have to be read again.
   */
  list(markers: readonly string[], judged?: ReadonlyMap<number, string>): readonly ProcessRow[] | Promise<readonly ProcessRow[]>;
  /**
   * The start time, which identifies a process uniquely together with its pid, even if it has just ended; null if there is no such process.
   */
  startTimeOf(pid: number): string | null;
  /** The processes (pid to start time) that still run; zombies do not count. */
  alive(processes: ReadonlyMap<number, string>): readonly number[];
}
