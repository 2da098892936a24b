// Loaded into a measured process beside the program (`node --import`): notes when the process began and, between two SIGUSR2, how long
// its main thread was held up. What it finds goes to the file TRAYCLAW_PROBE names, one JSON object a line.

import { appendFileSync, readFileSync } from 'node:fs';

const LONG_MS = 16;

const file = process.env['TRAYCLAW_PROBE'];
let stop: (() => void) | null = null;

if (file !== undefined) {
  note(file, { mark: 'process', atMs: performance.timeOrigin + performance.now() });
  process.on('SIGUSR2', () => {
    if (stop === null) stop = watchBeats(file);
    else {
      stop();
      stop = null;
    }
  });
}

function note(path: string, line: unknown): void {
  appendFileSync(path, `${JSON.stringify(line)}\n`);
}

/** What the main thread has had so far: time at work, and time ready to work while other programs had the processors (schedstat, Linux). */
function shares(): { readonly workMs: number; readonly queueMs: number } {
  const [workNs = 0, queueNs = 0] = readFileSync('/proc/self/schedstat', 'latin1').split(' ').map(Number);
  return { workMs: workNs / 1e6, queueMs: queueNs / 1e6 };
}

/** A beat every millisecond; one that comes late was held up by that much: by work, by other programs, or by waiting for the disk. */
function watchBeats(path: string): () => void {
  const walls: number[] = [];
  const long: { readonly wallMs: number; readonly workMs: number; readonly queueMs: number }[] = [];
  let lastMs = performance.now();
  let last = shares();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const wallMs = nowMs - lastMs;
    const now = shares();
    walls.push(wallMs);
    if (wallMs > LONG_MS) long.push({ wallMs, workMs: now.workMs - last.workMs, queueMs: now.queueMs - last.queueMs });
    lastMs = performance.now();
    last = now;
  }, 1);
  return () => {
    clearInterval(timer);
    walls.sort((a, b) => a - b);
    note(path, { beats: walls.length, p99Ms: walls[Math.floor(walls.length * 0.99)] ?? 0, maxMs: walls.at(-1) ?? 0, long });
  };
}
