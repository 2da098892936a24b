// The process table of Linux, read from /proc. A process that ends while it is being read is skipped.

import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { errnoOf } from '../../base/errno.ts';
import type { ProcessRow, ProcessTable } from './process-table-port.ts';

const ENVIRONMENT_BYTES_MAX = 262_144;
const KERNEL_PARENT = 2;

/**
 * Start times are field 22 of /proc/PID/stat (clock ticks since boot, proc_pid_stat(5)) after a prefix of the boot id, because both pid and
 * ticks can recur after a reboot.
 */
export function createLinuxProcessTable(home?: string): ProcessTable {
  // One buffer for all reads: a sweep reads hundreds of small files, and a stop must be fast.
  const buffer = Buffer.allocUnsafe(ENVIRONMENT_BYTES_MAX);
  const boot = readInto(buffer, '/proc/sys/kernel/random/boot_id').toString('latin1', 0, 8);
  const rowOf = (pid: number): ProcessRow | null => {
    const stat = readInto(buffer, `/proc/${pid}/stat`);
    return stat.length === 0 ? null : parseStat(pid, stat.toString('latin1'), boot);
  };
  const hidesHome = (pid: number | 'self'): boolean =>
    home !== undefined && hasTmpfsAt(readInto(buffer, `/proc/${pid}/mountinfo`).toString('utf8'), home);
  // If this process sees a tmpfs there too, the mount does not show a shield.
  const canTell = home !== undefined && !hidesHome('self');
  const own = namespaceOf('self');
  return {
    list(markers, judged) {
      const rows: ProcessRow[] = [];
      const wanted = markers.map((marker) => Buffer.from(`${marker}\0`));
      const hiding = new Map<string, boolean>();
      const shieldOf = (pid: number): string | undefined => {
        const namespace = canTell ? namespaceOf(pid) : own;
        if (namespace === own || namespace === undefined) return undefined;
        if (!hiding.has(namespace)) hiding.set(namespace, hidesHome(pid));
        return hiding.get(namespace) === true ? namespace : undefined;
      };
      for (const name of readdirSync('/proc')) {
        const pid = Number(name);
        if (!Number.isInteger(pid)) continue;
        const plain = rowOf(pid);
        if (plain === null || plain.parentPid === KERNEL_PARENT || pid === KERNEL_PARENT) continue;
        const row = { ...plain, shield: shieldOf(pid) };
        const isOpen = !row.isDead && wanted.length > 0 && judged?.get(pid) !== row.startTime;
        const isMarked = isOpen && holdsAny(readInto(buffer, `/proc/${name}/environ`), wanted);
        rows.push(isMarked ? { ...row, isMarked } : row);
      }
      return rows;
    },
    startTimeOf: (pid) => rowOf(pid)?.startTime ?? null,
    alive(processes) {
      const runs = ([pid, startTime]: [number, string]): boolean => {
        const row = rowOf(pid);
        return row !== null && !row.isDead && row.startTime === startTime;
      };
      return [...processes].filter(runs).map(([pid]) => pid);
    },
  };
}

/** The command name is in parentheses and may contain any character, even parentheses, so fields are counted from the last one. */
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

/** Undefined if the process has ended, or belongs to another user. */
function namespaceOf(pid: number | 'self'): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause;
    return undefined;
  }
}

/** Reads mountinfo (proc_pid_mountinfo(5)): field 5 is the place, with octal escapes, and the file system follows a lone dash. */
export function hasTmpfsAt(mountinfo: string, path: string): boolean {
  const place = path.replace(/[\\ \t\n]/g, (letter) => `\\${letter.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return mountinfo.split('\n').some((line) => line.split(' ')[4] === place && line.includes(' - tmpfs '));
}

/** Matches whole entries only: at the start, or after a NUL. */
function holdsAny(environment: Buffer, entries: readonly Buffer[]): boolean {
  for (const entry of entries) {
    for (let at = environment.indexOf(entry); at >= 0; at = environment.indexOf(entry, at + 1)) {
      if (at === 0 || environment[at - 1] === 0) return true;
    }
  }
  return false;
}

/** Reads as much of a file as fits into the buffer; nothing if it is missing or not readable for this user. */
function readInto(buffer: Buffer, path: string): Buffer {
  let handle: number | undefined;
  try {
    handle = openSync(path, 'r');
    let length = 0;
    for (;;) {
      const read = readSync(handle, buffer, length, buffer.length - length, length);
      length += read;
      if (read === 0 || length === buffer.length) return buffer.subarray(0, length);
    }
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause;
    return buffer.subarray(0, 0);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
