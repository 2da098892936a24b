// A clock that stands still while other programs use the processors, so that time limits of tests hold on a busy machine too.

import { readdirSync, readFileSync } from 'node:fs';

const TRIES = 5;
const REFERENCE_TEXT = 'the word and 4711 of a line\n'.repeat(100_000);
const REFERENCE_MS = 50;
/** Shorter times are too uncertain to divide by: the clock moves in steps of 4 ms. */
const SHORT_MS = 20;

/** Milliseconds from an arbitrary moment, without the time in which the main thread was ready to run but had to wait (schedstat, Linux). */
export function ownNow(): number {
  return withoutWaiting(() => waitedMs('self'));
}

/** The same for this process and all its descendants so far: subtracts the waiting time of each one's main thread. */
export function createSharedClock(): () => number {
  const waited = new Map([process.pid, ...descendantsOf(process.pid)].map((pid) => [pid, 0]));
  return () =>
    withoutWaiting(() => {
      // A process that has ended keeps the waiting time that was last read.
      for (const [pid, before] of waited) waited.set(pid, Math.max(before, waitedMs(pid)));
      return [...waited.values()].reduce((sum, ms) => sum + ms, 0);
    });
}

/** Processor time of the work in milliseconds, on this thread. On a slow machine it is divided by how much slower the machine reads a text right now. */
export function workMs(work: () => void): number {
  const before = referenceMs();
  const tookMs = threadMs(work);
  return tookMs / Math.max(1, before / REFERENCE_MS, referenceMs() / REFERENCE_MS);
}

/** How many times longer the whole text takes than an eighth of it: about 8 if the time grows with the length, 64 if it grows with its square. */
export function growth(text: string, work: (text: string) => void): number {
  const part = text.slice(0, text.length / 8);
  work(part);
  const partMs = Math.max(
    SHORT_MS,
    threadMs(() => work(part)),
  );
  return threadMs(() => work(text)) / partMs;
}

/** Long enough for a clock of processor time that moves in steps of 4 ms. */
function referenceMs(): number {
  return threadMs(() => [1, 2].map(() => REFERENCE_TEXT.replaceAll(/\b(\w)\w*\s(\d+)/gu, '$2')));
}

function threadMs(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** Reads both clocks again if the process had to wait between them: that wait would be in one of them only. */
function withoutWaiting(readWaited: () => number): number {
  let waited = readWaited();
  for (let tries = 1; ; tries += 1) {
    const now = performance.now();
    const after = readWaited();
    if (after === waited || tries === TRIES) return now - waited;
    waited = after;
  }
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
    return []; // not available on macOS and Windows
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // Not available on macOS and Windows, or the process has ended.
  }
}
