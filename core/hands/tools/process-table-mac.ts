// The process table of macOS and the BSDs, from ps. Own processes show their environment after the command there.

import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import type { ProcessRow, ProcessTable } from './process-table-port.ts';

const OUTPUT_BYTES_MAX = 16_000_000;
const TIMEOUT_MS = 5000;
const run = promisify(execFile);
// The same words for months and days in every language setting, so that start times compare.
const environment = { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' };

export function createMacProcessTable(): ProcessTable {
  return {
    async list(markers) {
      const args = ['-axEww', '-o', 'pid=,ppid=,pgid=,stat=,lstart=,command='];
      const { stdout } = await run('ps', args, { maxBuffer: OUTPUT_BYTES_MAX, timeout: TIMEOUT_MS, env: environment });
      return parsePsTable(stdout, markers);
    },
    startTimeOf: (pid) => stateOf(pid)?.startTime ?? null,
    isAlive({ pid, startTime }) {
      const state = stateOf(pid);
      return state !== null && !state.isDead && state.startTime === startTime;
    },
  };
}

function stateOf(pid: number): { isDead: boolean; startTime: string } | null {
  try {
    const args = ['-o', 'stat=,lstart=', '-p', String(pid)];
    const text = execFileSync('ps', args, { encoding: 'utf8', timeout: TIMEOUT_MS, env: environment, stdio: ['ignore', 'pipe', 'ignore'] });
    const [, state = '', start = ''] = /^\s*(\S+)\s+(.*)$/m.exec(text) ?? [];
    return start === '' ? null : { isDead: state.startsWith('Z'), startTime: plainStart(start) };
  } catch {
    // ps answers with exit code 1 when there is no such process.
    return null;
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
