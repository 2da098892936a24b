// Ends process trees on Windows. The system stores the parent and the start time of each process, but has neither signals that pause one
// nor access to another's environment: children are found by their parents as long as one of them is known, and a tree is rescanned until
// no new ones appear.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { SpawnRecord } from '../../contracts/tools.ts';
import type { Environment } from './child-environment.ts';
import { powershellArguments, powershellPath, taskkillPath } from './windows-system.ts';

export interface WindowsProcess {
  readonly pid: number;
  readonly parentPid: number;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
}

export interface WindowsEnd {
  readonly killed: number;
  readonly survivors: number;
}

/** Runs a program to its end and returns its output. Rejects if it cannot be run, fails, or takes too long. */
export type RunProgram = (file: string, args: readonly string[], timeoutMs: number) => Promise<string>;

export interface WindowsPorts {
  readonly environment: Environment;
  readonly run: RunProgram;
  /** Ends one process; returns false if there is none. */
  readonly end: (pid: number) => boolean;
}

const LIST_TIMEOUT_MS = 5000;
const KILL_TIMEOUT_MS = 5000;
const ROUNDS_MAX = 5;
/** The tolerance between a record and a start time: the clock is read after the process was started, and a coarse clock may lag behind. */
const RECORD_TOLERANCE_MS = 2000;

const LIST_SCRIPT = `Get-CimInstance Win32_Process -Property ProcessId,ParentProcessId,CreationDate |
  ForEach-Object { '{0} {1} {2}' -f $_.ProcessId, $_.ParentProcessId, ([DateTimeOffset]$_.CreationDate).ToUnixTimeMilliseconds() }`;

/**
 * Ends the roots and all they started. A root that has already ended is not a survivor; a process with its pid but another start time is
 * left alone.
 */
export async function endWindowsTrees(roots: readonly SpawnRecord[], ports: WindowsPorts): Promise<WindowsEnd> {
  const ended = new Set<number>();
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const rows = await listProcesses(ports).catch(() => null);
    if (rows === null) return endByTaskkill(roots, ports);
    const members = findWindowsMembers(rows, roots, ended);
    if (members.length === 0) return { killed: ended.size, survivors: 0 };
    // Parents before children, because an ended parent cannot start another child.
    for (const { pid } of members) if (ports.end(pid)) ended.add(pid);
  }
  const left = findWindowsMembers(await listProcesses(ports).catch(() => []), roots, ended);
  return { killed: ended.size - left.filter(({ pid }) => ended.has(pid)).length, survivors: left.length };
}

/**
 * The running processes of the trees, parents before children. `known` are members of earlier scans, whose children still refer to them.
 */
export function findWindowsMembers(
  rows: readonly WindowsProcess[],
  roots: readonly SpawnRecord[],
  known: ReadonlySet<number>,
): readonly WindowsProcess[] {
  const isRoot = (row: WindowsProcess): boolean =>
    roots.some((root) => root.pid === row.pid && Math.abs(row.startedMs - Number(root.startTime)) <= RECORD_TOLERANCE_MS);
  const started = new Map(rows.map((row) => [row.pid, row.startedMs]));
  const rootStarts = new Map(roots.map((root) => [root.pid, Number(root.startTime) - RECORD_TOLERANCE_MS]));
  const members = new Map<number, WindowsProcess>();
  const isMember = (row: WindowsProcess): boolean => {
    if (isRoot(row)) return true;
    const parent = members.get(row.parentPid);
    // Pids are reused, but a child is never older than its parent.
    if (parent !== undefined) return row.startedMs >= parent.startedMs;
    if (started.has(row.parentPid)) return false;
    const since = rootStarts.get(row.parentPid);
    return known.has(row.parentPid) || (since !== undefined && row.startedMs >= since);
  };
  for (let before = -1; before !== members.size;) {
    before = members.size;
    for (const row of rows) if (!members.has(row.pid) && isMember(row)) members.set(row.pid, row);
  }
  return [...members.values()];
}

async function listProcesses({ environment, run }: WindowsPorts): Promise<WindowsProcess[]> {
  return parseWindowsList(await run(powershellPath(environment), powershellArguments(LIST_SCRIPT), LIST_TIMEOUT_MS));
}

export function parseWindowsList(text: string): WindowsProcess[] {
  return text.split('\n').flatMap((line) => {
    const [, pid, parentPid, startedMs] = /^(\d+) (\d+) (\d+)\s*$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), parentPid: Number(parentPid), startedMs: Number(startedMs) }];
  });
}

/**
 * Used if the process list is unavailable. It checks no start time, so it gets only the roots of this run, right after their end was
 * requested.
 */
async function endByTaskkill(roots: readonly SpawnRecord[], { environment, run, end }: WindowsPorts): Promise<WindowsEnd> {
  const outcomes = await Promise.all(
    roots.map(async ({ pid }) => {
      const isEnded = await run(taskkillPath(environment), ['/PID', String(pid), '/T', '/F'], KILL_TIMEOUT_MS).then(
        () => true,
        () => false,
      );
      return isEnded || end(pid) ? 'killed' : 'gone';
    }),
  );
  return { killed: outcomes.filter((outcome) => outcome === 'killed').length, survivors: 0 };
}

const execute = promisify(execFile);

export const runProgram: RunProgram = async (file, args, timeoutMs) =>
  (await execute(file, [...args], { windowsHide: true, timeout: timeoutMs, maxBuffer: 16_000_000 })).stdout;
