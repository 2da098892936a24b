// Finds the processes that belong to some trees: by parent, process group, session, environment marker and shield. Pure.

import type { SpawnRecord } from '../../contracts/tools.ts';
import type { ProcessRow } from './process-table-port.ts';

export interface TreeQuery {
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
