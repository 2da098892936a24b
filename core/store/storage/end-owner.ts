// Ends a process that owns a data folder and no longer answers, for the panic stop. Ends only a process that provably has the lock file
// open; the operating system then releases the lock, and the next start settles what was under way.

import { execFileSync } from 'node:child_process';
import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '../../base/waits.ts';
import { errnoOf } from '../../base/errno.ts';
import { ownerLockName } from './owner-lock.ts';

const WAIT_MS = 2_000;
const LOOK_MS = 20;
const LSOF_MS = 2_000;

/** Returns whether the process had the data folder and has ended. Always false on Windows, where open files cannot be looked up. */
export async function endOwner(home: string, pid: number): Promise<boolean> {
  const lock = join(realpathSync(home), ownerLockName);
  if (pid === process.pid || !hasOpen(pid, lock)) return false;
  process.kill(pid, 'SIGKILL');
  for (let waitedMs = 0; waitedMs < WAIT_MS; waitedMs += LOOK_MS) {
    if (!hasOpen(pid, lock)) return true;
    await sleep(LOOK_MS);
  }
  return false;
}

function hasOpen(pid: number, file: string): boolean {
  switch (process.platform) {
    case 'linux':
      return openOnLinux(pid).includes(file);
    case 'win32':
      return false;
    default:
      return openByLsof(file).includes(pid);
  }
}

function openOnLinux(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).map((name) => readlinkSync(join(folder, name)));
  } catch (cause) {
    // The process has ended, belongs to another user, or closed a file meanwhile.
    if (errnoOf(cause) === undefined) throw cause;
    return [];
  }
}

function openByLsof(file: string): number[] {
  try {
    const stdout = execFileSync('/usr/sbin/lsof', ['-t', '--', file], {
      encoding: 'utf8',
      timeout: LSOF_MS,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return stdout.split('\n').map(Number);
  } catch {
    // lsof exits with code 1 if no process has the file open.
    return [];
  }
}
