// Many sessions that stream at once: how long each waits for its answer, the total cost, and the memory per session.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TrayClaw } from '../../../core/index.ts';
import { summarize, type Summary } from '../statistics.ts';
import { loadLibrary } from '../subjects/trayclaw.ts';
import { serveJob } from './worker.ts';

export interface SideBySideJob {
  readonly libraryFile: string;
  /** The address of a lane that sends one piece every few milliseconds. */
  readonly baseUrl: string;
  readonly sessions: number;
}

export interface SideBySideFigures {
  /** Milliseconds from the message to the end of its turn, by session. */
  readonly tookMs: Summary;
  /** The longest gap in milliseconds between two pieces of one answer, by session. */
  readonly gapMs: Summary;
  /** Milliseconds of processor time per session. */
  readonly processorMs: number;
  readonly rssBytesEach: number;
}

const WARM = 8;

await serveJob(measure);

async function measure(job: SideBySideJob): Promise<SideBySideFigures> {
  const { createTrayClaw } = await loadLibrary(job.libraryFile);
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-bench-'));
  const claw = await createTrayClaw({
    home: join(folder, 'home'),
    config: {
      providers: { bench: { kind: 'openai-compatible', baseUrl: job.baseUrl, contextTokens: 100_000 } },
      models: { default: 'bench/bench' },
      limits: { parallelTurns: job.sessions },
    },
  });
  try {
    await streams(claw, WARM);
    globalThis.gc?.();
    const before = process.memoryUsage.rss();
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
    const usedBefore = process.cpuUsage();
    const taken = await streams(claw, job.sessions);
    const { user, system } = process.cpuUsage(usedBefore);
    clearInterval(watch);
    return {
      tookMs: summarize(taken.map(({ tookMs }) => tookMs)),
      gapMs: summarize(taken.map(({ gapMs }) => gapMs)),
      processorMs: (user + system) / 1000 / job.sessions,
      rssBytesEach: (most - before) / job.sessions,
    };
  } finally {
    await claw.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs one turn in each of the given number of new sessions, all at once. */
function streams(claw: TrayClaw, sessions: number): Promise<{ tookMs: number; gapMs: number }[]> {
  return Promise.all(
    Array.from({ length: sessions }, async (_, n) => {
      const startedMs = performance.now();
      let lastMs: number | null = null;
      let gapMs = 0;
      await claw.ask(`Session ${n}, please.`, {
        onText: () => {
          const nowMs = performance.now();
          if (lastMs !== null) gapMs = Math.max(gapMs, nowMs - lastMs);
          lastMs = nowMs;
        },
      });
      return { tookMs: performance.now() - startedMs, gapMs };
    }),
  );
}
