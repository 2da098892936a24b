// The process table of macOS and the BSDs, from ps. There, ps shows the environment of the user's own processes after the command.

import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { isRunning } from '../../store/home/home.ts';
import type { ProcessRow, ProcessTable } from './process-table-port.ts';

const OUTPUT_BYTES_MAX = 16_000_000;
const TIMEOUT_MS = 5000;
const run = promisify(execFile);
// Gives the same month and day names in every locale, so that start times can be compared.
const environment = { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' };

export interface MacCalls {
  /** Runs ps once; the output is empty if it finds nothing. */
  readonly ps: (args: readonly string[]) => string;
  /** Returns whether a process with this pid exists, without starting a program. */
  readonly isThere: (pid: number) => boolean;
}

export function createMacProcessTable({ ps, isThere }: MacCalls = { ps: runPs, isThere: isRunning }): ProcessTable {
  const statesOf = (pids: readonly number[]): ReadonlyMap<number, State> =>
    pids.length === 0 ? new Map() : parseStates(ps(['-o', 'pid=,stat=,lstart=', '-p', pids.join(',')]));
  return {
    async list(markers) {
      const args = ['-axEww', '-o', 'pid=,ppid=,pgid=,stat=,lstart=,command='];
      const { stdout } = await run('ps', args, { maxBuffer: OUTPUT_BYTES_MAX, timeout: TIMEOUT_MS, env: environment });
      return parsePsTable(stdout, markers);
    },
    startTimeOf: (pid) => statesOf([pid]).get(pid)?.startTime ?? null,
    // A stop calls this repeatedly, and each ps blocks everything else. Usually all processes have ended, and ps does not run.
    alive(processes) {
      const states = statesOf([...processes.keys()].filter(isThere));
      return [...states].filter(([pid, { isDead, startTime }]) => !isDead && processes.get(pid) === startTime).map(([pid]) => pid);
    },
  };
}

interface State {
  readonly isDead: boolean;
  readonly startTime: string;
}

function parseStates(text: string): ReadonlyMap<number, State> {
  const rows = [...text.matchAll(/^\s*(\d+)\s+(\S+)\s+(\S.*)$/gm)];
  return new Map(
    rows.map(([, pid, stat = '', start = '']) => [Number(pid), { isDead: stat.startsWith('Z'), startTime: plainStart(start) }]),
  );
}

function runPs(args: readonly string[]): string {
  try {
    return execFileSync('ps', args, { encoding: 'utf8', timeout: TIMEOUT_MS, env: environment, stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    // ps exits with code 1 if there is no such process.
    return '';
  }
}

const rowPattern = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})\s?(.*)$/;

export function parsePsTable(text: string, markers: readonly string[]): ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const line of text.split('\n')) {
    const [, pid, parentPid, groupId, state = '', start = '', command = ''] = rowPattern.exec(line) ?? [];
    if (pid === undefined) continue;
    rows.push({
      pid: Number(pid),
      startTime: plainStart(start),
      parentPid: Number(parentPid),
      groupId: Number(groupId),
      sessionId: 0,
      isDead: state.startsWith('Z'),
      isMarked: markers.some((marker) => ` ${command} `.includes(` ${marker} `)),
    });
  }
  return rows;
}

function plainStart(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}
