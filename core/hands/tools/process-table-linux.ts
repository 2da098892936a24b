// The process table of Linux, read from /proc. A process that ends while it is read is simply not there.

import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { errnoOf } from './errno.ts';
import type { ProcessRow, ProcessTable } from './process-table.ts';

const ENVIRONMENT_BYTES_MAX = 262_144;
const KERNEL_PARENT = 2;

/**
 * Start times are field 22 of /proc/PID/stat (clock ticks since boot, proc_pid_stat(5)) behind the boot's own id, because
 * after a restart of the machine both pid and ticks can come again.
 */
export function createLinuxProcessTable(): ProcessTable {
  const boot = readText('/proc/sys/kernel/random/boot_id')?.slice(0, 8) ?? 'boot';
  // One buffer for every environment of a sweep: a sweep reads hundreds.
  const buffer = Buffer.allocUnsafe(ENVIRONMENT_BYTES_MAX);
  const rowOf = (pid: number): ProcessRow | null => {
    const stat = readText(`/proc/${pid}/stat`);
    return stat === null ? null : parseStat(pid, stat, boot);
  };
  return {
    list(markers) {
      const rows: ProcessRow[] = [];
      const wanted = markers.map((marker) => Buffer.from(`${marker}\0`));
      for (const name of readdirSync('/proc')) {
        const pid = Number(name);
        if (!Number.isInteger(pid)) continue;
        const row = rowOf(pid);
        if (row === null || row.parentPid === KERNEL_PARENT || pid === KERNEL_PARENT) continue;
        const isMarked = !row.isDead && wanted.length > 0 && hasMarker(`/proc/${name}/environ`, wanted, buffer);
        rows.push(isMarked ? { ...row, isMarked } : row);
      }
      return rows;
    },
    startTimeOf: (pid) => rowOf(pid)?.startTime ?? null,
    isAlive({ pid, startTime }) {
      const row = rowOf(pid);
      return row !== null && !row.isDead && row.startTime === startTime;
    },
  };
}

/** The command name is in parentheses and may hold anything, also parentheses: fields count from the last one. */
export function parseStat(pid: number, stat: string, boot: string): ProcessRow | null {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  const startTicks = fields[19];
  if (state === undefined || startTicks === undefined) return null;
  return {
    pid,
    startTime: `${boot}-${startTicks}`,
    parentPid: Number(fields[1]),
    groupId: Number(fields[2]),
    sessionId: Number(fields[3]),
    isDead: state === 'Z' || state === 'X',
    isMarked: false,
  };
}

function hasMarker(path: string, wanted: readonly Buffer[], buffer: Buffer): boolean {
  let handle: number;
  try {
    handle = openSync(path, 'r');
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause;
    return false;
  }
  try {
    let length = 0;
    for (;;) {
      const read = readSync(handle, buffer, length, buffer.length - length, length);
      length += read;
      if (read === 0 || length === buffer.length) break;
    }
    const environment = buffer.subarray(0, length);
    return wanted.some((marker) => holdsEntry(environment, marker));
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause;
    return false;
  } finally {
    closeSync(handle);
  }
}

/** Only a whole entry counts: at the start, or after the NUL of the one before. */
function holdsEntry(environment: Buffer, entry: Buffer): boolean {
  for (let at = environment.indexOf(entry); at >= 0; at = environment.indexOf(entry, at + 1)) {
    if (at === 0 || environment[at - 1] === 0) return true;
  }
  return false;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause;
    return null;
  }
}
