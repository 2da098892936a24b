// Preloaded into a measured process (`node --import`): records when the process started and, between two SIGUSR2, how long its main thread
// was blocked. Writes to the file named by TRAYCLAW_PROBE, one JSON object per line.

import { appendFileSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const LONG_MS = 16;

const file = process.env['TRAYCLAW_PROBE'];
let stop: (() => void) | null = null;
/** Milliseconds in calls that wait for the disk; null until they are timed. */
let barrier: { totalMs: number } | null = null;

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

interface Sqlite {
  new (file: string): { prepare(text: string): object; close(): void };
  readonly prototype: object;
}

/** Starts timing every commit and checkpoint of the program's SQLite. */
function timeBarriers(): { totalMs: number } {
  const times = { totalMs: 0 };
  const Database = createRequire(process.argv[1] ?? import.meta.url)('better-sqlite3') as Sqlite;
  const scratch = new Database(':memory:');
  const statements = Object.getPrototypeOf(scratch.prepare('select 1')) as object;
  scratch.close();
  timeMethod(statements, 'run', times, (statement) => (statement as { source: string }).source === 'COMMIT');
  timeMethod(Database.prototype, 'pragma', times, (_database, [text]) => String(text).startsWith('wal_checkpoint'));
  return times;
}

function timeMethod(owner: object, name: string, times: { totalMs: number }, isBarrier: (self: object, args: unknown[]) => boolean): void {
  const method = Reflect.get(owner, name) as (...args: unknown[]) => unknown;
  Reflect.defineProperty(owner, name, {
    configurable: true,
    value(this: object, ...args: unknown[]): unknown {
      if (!isBarrier(this, args)) return method.apply(this, args);
      const startedMs = performance.now();
      try {
        return method.apply(this, args);
      } finally {
        times.totalMs += performance.now() - startedMs;
      }
    },
  });
}

interface Shares {
  readonly workMs: number;
  readonly queueMs: number;
  readonly barrierMs: number;
}

/** The main thread's times so far: running, and ready to run while other programs used the processors (schedstat, Linux). */
function shares(): Shares {
  const [workNs = 0, queueNs = 0] = readFileSync('/proc/self/schedstat', 'latin1').split(' ').map(Number);
  return { workMs: workNs / 1e6, queueMs: queueNs / 1e6, barrierMs: barrier?.totalMs ?? 0 };
}

/** Fires a timer every millisecond. If it fires late, the main thread was blocked for that long by work, other programs or the disk. */
function watchBeats(path: string): () => void {
  barrier ??= timeBarriers();
  const walls: number[] = [];
  const long: (Shares & { readonly wallMs: number })[] = [];
  let lastMs = performance.now();
  let last = shares();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const wallMs = nowMs - lastMs;
    const now = shares();
    walls.push(wallMs);
    if (wallMs > LONG_MS) {
      const [workMs, queueMs, barrierMs] = [now.workMs - last.workMs, now.queueMs - last.queueMs, now.barrierMs - last.barrierMs];
      long.push({ wallMs, workMs, queueMs, barrierMs });
    }
    lastMs = performance.now();
    last = now;
  }, 1);
  return () => {
    clearInterval(timer);
    walls.sort((a, b) => a - b);
    note(path, { beats: walls.length, p99Ms: walls[Math.floor(walls.length * 0.99)] ?? 0, maxMs: walls.at(-1) ?? 0, long });
  };
}
