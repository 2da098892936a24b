// A clock that stands still while other programs have the processors: what a test allows itself in time holds on a busy machine too.

import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds from some moment on, without those in which the main thread was ready to work and had to wait (schedstat, Linux). */
export function ownNow(): number {
  return performance.now() - waitedMs('self');
}

/** The same for this process and all it has started so far: of each what its main thread waited, one after the other. */
export function createSharedClock(): () => number {
  const waited = new Map([process.pid, ...descendantsOf(process.pid)].map((pid) => [pid, 0]));
  return () => {
    // One that has ended keeps what it had waited when it was last looked at.
    for (const [pid, before] of waited) waited.set(pid, Math.max(before, waitedMs(pid)));
    return performance.now() - [...waited.values()].reduce((sum, ms) => sum + ms, 0);
  };
}

function waitedMs(pid: number | 'self'): number {
  return Number(read(`/proc/${pid}/schedstat`).split(' ')[1] ?? 0) / 1e6;
}

function descendantsOf(parent: number): number[] {
  const parents = pids().map((pid) => [pid, Number(/^.*\) \S (\d+)/s.exec(read(`/proc/${pid}/stat`))?.[1])] as const);
  const below = (above: number): number[] => parents.filter(([, of]) => of === above).flatMap(([pid]) => [pid, ...below(pid)]);
  return below(parent);
}

function pids(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return []; // macOS, Windows
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // macOS, Windows, or it has ended
  }
}
