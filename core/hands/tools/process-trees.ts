// The register of running children, and the stop that ends them with everything they started: pauses them, repeats until no new ones
// appear, kills all, and waits until they have ended. Touches only processes of a tree, with our marker or behind our shield.

import type { Clock } from '../../base/clock.ts';
import { sleep } from '../../base/waits.ts';
import { errnoOf } from '../../base/errno.ts';
import type { Logger } from '../../base/logger.ts';
import type { SpawnRecord } from '../../contracts/tools.ts';
import type { Environment } from './child-environment.ts';
import type { ProcessRow, ProcessTable } from './process-table-port.ts';
import { endWindowsTrees, runProgram } from './windows-trees.ts';

export type EnvironmentMarker = Readonly<Record<string, string>>;

export interface ProcessTreesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Null on Windows, where windows-trees.ts is used instead. */
  readonly table: ProcessTable | null;
  /** Locates the Windows programs that list and end processes. */
  readonly environment: Environment;
  /** The variable in the environment of every child of this instance, whichever call started it. */
  readonly instanceMarker: EnvironmentMarker;
  /** How long a stop waits for the last process to end. */
  readonly waitMsMax?: number;
}

export interface TrackedProcess extends SpawnRecord {
  /** The variable of this child and its own children, in addition to the instance's marker. */
  readonly marker: EnvironmentMarker;
}

export interface KillReport {
  readonly killed: number;
  readonly tookMs: number;
  /** Members that still existed when the wait ended; 0 except for processes that the kernel cannot end. */
  readonly survivors: number;
}

interface KillTarget {
  /** See `TreeQuery`. */
  readonly allShielded: boolean;
  readonly roots: readonly SpawnRecord[];
  readonly markers: readonly string[];
}

const WAIT_MS = 2000;
const SWEEPS_MAX = 20;
const ROUNDS_MAX = 3;

export class ProcessTrees {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #table: ProcessTable | null;
  readonly #environment: Environment;
  readonly #instanceMarker: EnvironmentMarker;
  readonly #waitMsMax: number;
  readonly #live = new Map<number, TrackedProcess>();
  #hasStarted = false;

  constructor(options: ProcessTreesOptions) {
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#table = options.table;
    this.#environment = options.environment;
    this.#instanceMarker = options.instanceMarker;
    this.#waitMsMax = options.waitMsMax ?? WAIT_MS;
  }

  /** Whether a child was ever registered. */
  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** The number of registered children. */
  get size(): number {
    return this.#live.size;
  }

  /**
   * The record of a child that was just spawned. On Windows the time is that of the clock, because asking the system would cost more than
   * starting the child.
   */
  recordOf(pid: number): SpawnRecord {
    return { pid, startTime: this.#table === null ? String(this.#clock.nowMs()) : (this.#table.startTimeOf(pid) ?? '') };
  }

  /** Registers a child. Call the returned function once it and everything it started have ended. */
  track(process: TrackedProcess): () => void {
    this.#hasStarted = true;
    this.#live.set(process.pid, process);
    return () => {
      if (this.#live.get(process.pid) === process) this.#live.delete(process.pid);
    };
  }

  /** Returns whether the process group of a child still has members. Cheap: one system call. */
  hasGroup(pid: number): boolean {
    return this.#table !== null && signal(-pid, 0);
  }

  /** Ends one registered child and all it started. */
  kill(pid: number): Promise<KillReport> {
    const tracked = this.#live.get(pid);
    if (tracked === undefined) return Promise.resolve({ killed: 0, tookMs: 0, survivors: 0 });
    return this.#end({ allShielded: false, roots: [tracked], markers: callMarkers(tracked.marker, this.#instanceMarker) });
  }

  /** Ends every child of this instance wherever it is, including those of finished runs. */
  killAll(): Promise<KillReport> {
    return this.#end({ allShielded: true, roots: [...this.#live.values()], markers: markerTexts(this.#instanceMarker) });
  }

  /**
   * Ends leftovers of earlier runs, at boot. A recorded pid counts only with its recorded start time; processes without a record are found
   * by the marker.
   */
  reap(records: readonly SpawnRecord[], marker: EnvironmentMarker): Promise<KillReport> {
    return this.#end({ allShielded: true, roots: records.filter((record) => record.startTime !== ''), markers: markerTexts(marker) });
  }

  async #end(target: KillTarget): Promise<KillReport> {
    const startedMs = this.#clock.monotonicMs();
    if (this.#table === null) {
      const ports = { environment: this.#environment, run: runProgram, end: (pid: number) => signal(pid, 'SIGKILL') };
      return { ...(await endWindowsTrees(target.roots, ports)), tookMs: this.#clock.monotonicMs() - startedMs };
    }
    const known = new Map<number, string>();
    let survivors: readonly number[] = [];
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const sweeps = holdStill(this.#table, target, known);
      let sweep = sweeps.next();
      // If the table is read synchronously, no other work and no disk wait happens before all have ended.
      while (sweep.done !== true) sweep = sweeps.next(sweep.value instanceof Promise ? await sweep.value : sweep.value);
      const isQuiet = sweep.value;
      // SIGKILL also ends a stopped process.
      for (const pid of this.#table.alive(known)) signal(pid, 'SIGKILL');
      survivors = await this.#waitUntilGone(this.#table, known);
      if (isQuiet || survivors.length > 0) break;
    }
    if (survivors.length > 0) this.#logger.log('error', 'processes could not be ended', { pids: survivors });
    return { killed: known.size - survivors.length, tookMs: this.#clock.monotonicMs() - startedMs, survivors: survivors.length };
  }

  async #waitUntilGone(table: ProcessTable, known: ReadonlyMap<number, string>): Promise<readonly number[]> {
    const deadlineMs = this.#clock.monotonicMs() + this.#waitMsMax;
    let pauseMs = 1;
    for (;;) {
      const left = table.alive(known);
      if (left.length === 0 || this.#clock.monotonicMs() >= deadlineMs) return left;
      await sleep(pauseMs);
      pauseMs = Math.min(pauseMs * 2, 16);
    }
  }
}

type Listed = ReturnType<ProcessTable['list']>;

/**
 * Pauses the members, sweep by sweep, until no sweep finds a running one, so that none can start another. Returns false if new ones still
 * appeared in the last sweep. Yields the table's request and resumes with its result.
 */
function* holdStill(
  table: ProcessTable,
  target: KillTarget,
  known: Map<number, string>,
): Generator<Listed, boolean, readonly ProcessRow[]> {
  const judged = new Map<number, string>();
  const held = new Map<number, string>();
  for (let sweep = 0; sweep < SWEEPS_MAX; sweep++) {
    const rows = yield table.list(target.markers, judged);
    let hasFresh = false;
    for (const { pid, startTime } of findMembers(rows, { ...target, known, self: process.pid })) {
      if (held.get(pid) === startTime) continue;
      hasFresh = true;
      held.set(pid, startTime);
      known.set(pid, startTime);
      signal(pid, 'SIGSTOP');
    }
    if (!hasFresh) return true;
    for (const { pid, startTime } of rows) judged.set(pid, startTime);
  }
  return false;
}

/** `NAME=value` texts. A marker without a value would match unrelated processes and is left out. */
function markerTexts(marker: EnvironmentMarker): string[] {
  return Object.entries(marker).flatMap(([name, value]) => (value === '' ? [] : [`${name}=${value}`]));
}

/** The parts of a call's marker that no other call shares. */
function callMarkers(marker: EnvironmentMarker, instanceMarker: EnvironmentMarker): string[] {
  return markerTexts(Object.fromEntries(Object.entries(marker).filter(([name]) => !Object.hasOwn(instanceMarker, name))));
}

/** Returns false if there is no such process or we may not signal it. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause;
    return errnoOf(cause) === 'EPERM';
  }
}

// Finds the processes that belong to some trees: by parent, process group, session, environment marker and shield. Pure.

interface TreeQuery {
  /** The roots. A process with the same pid but another start time is not a root. */
  readonly roots: readonly SpawnRecord[];
  /** Whether every process behind a shield of the data folder is a member, and not only those that share one with another member. */
  readonly allShielded: boolean;
  /** Processes found to be members before; their children stay members after they have ended. */
  readonly known: ReadonlyMap<number, string>;
  /** This process: neither it nor its ancestors are ever members. */
  readonly self: number;
}

/** The living members. Roots were spawned as leaders of a separate group and session, and their descendants may be leaders too. */
export function findMembers(rows: readonly ProcessRow[], query: TreeQuery): ProcessRow[] {
  const byPid = new Map(rows.map((row) => [row.pid, row]));
  const spared = ancestorsOf(query.self, byPid);
  const roots = new Map(query.roots.map((root) => [root.pid, root.startTime]));
  const members = new Map<number, ProcessRow>();
  const leaders = leadersOf(query.roots, byPid);
  const shields = new Set<string>();
  const isShielded = ({ shield }: ProcessRow): boolean => shield !== undefined && (query.allShielded || shields.has(shield));
  for (let grew = true; grew;) {
    grew = false;
    for (const row of rows) {
      if (members.has(row.pid) || spared.has(row.pid)) continue;
      const isMember =
        row.isMarked ||
        isNamed(row, roots) ||
        isNamed(row, query.known) ||
        members.has(row.parentPid) ||
        isShielded(row) ||
        leaders.has(row.groupId) ||
        leaders.has(row.sessionId);
      if (!isMember) continue;
      members.set(row.pid, row);
      if (row.shield !== undefined) shields.add(row.shield);
      if (row.groupId === row.pid || row.sessionId === row.pid) leaders.add(row.pid);
      grew = true;
    }
  }
  return [...members.values()].filter((row) => !row.isDead);
}

function isNamed(row: ProcessRow, named: ReadonlyMap<number, string>): boolean {
  const startTime = named.get(row.pid);
  return startTime !== undefined && startTime !== '' && startTime === row.startTime;
}

/**
 * The groups and sessions that the roots lead. While a group has members its number is not reused as a pid, so a root that has ended still
 * identifies its group; a root whose pid now belongs to another process does not.
 */
function leadersOf(roots: readonly SpawnRecord[], byPid: ReadonlyMap<number, ProcessRow>): Set<number> {
  const leaders = new Set<number>();
  for (const root of roots) {
    const now = byPid.get(root.pid);
    if (root.startTime !== '' && (now === undefined || now.startTime === root.startTime)) leaders.add(root.pid);
  }
  return leaders;
}

function ancestorsOf(pid: number, byPid: ReadonlyMap<number, ProcessRow>): Set<number> {
  const spared = new Set([0, 1, pid]);
  for (let row = byPid.get(pid); row !== undefined && !spared.has(row.parentPid); row = byPid.get(row.parentPid)) spared.add(row.parentPid);
  return spared;
}
