// Measures the panic stop, from the call of the operation to the end of the last process. The running process trees were started through
// the real tool and gate, and some are in separate sessions that a process group signal does not reach.

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { TrayClaw } from '../../../core/index.ts';
import { findByCommandLine } from '../processes.ts';
import { summarize, type Summary } from '../statistics.ts';
import { loadLibrary } from '../subjects/trayclaw.ts';
import type { DeathReport, WatchOrder } from './death-watcher.ts';
import { serveJob } from './worker.ts';

export interface PanicJob {
  readonly libraryFile: string;
  readonly rounds: number;
  readonly trees: number;
}

export interface PanicFigures {
  /** Milliseconds from the call of panic.engage to the last death. */
  readonly toLastDeath: Summary;
  /** Milliseconds until the operation returned. */
  readonly toReturn: Summary;
  readonly processesPerRound: number;
  readonly survivors: number;
}

/** The shell, a child, a child in a separate session, and an orphan. */
const PROCESSES_PER_TREE = 4;
const START_MS_MAX = 30_000;

await serveJob(measure);

async function measure(job: PanicJob): Promise<PanicFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-bench-'));
  const { createTrayClaw } = await loadLibrary(job.libraryFile);
  const claw = await createTrayClaw({
    home: join(folder, 'home'),
    config: { models: { default: 'demo/offline' }, limits: { parallelTurns: 64 } },
  });
  const watcher = fork(fileURLToPath(new URL('death-watcher.ts', import.meta.url)));
  const toLastDeath: number[] = [];
  const toReturn: number[] = [];
  let survivors = 0;
  try {
    for (let round = 0; round < job.rounds; round++) {
      const result = await runRound(claw, watcher, { trees: job.trees, marker: markerOf(round) });
      toLastDeath.push(result.toLastDeathMs);
      toReturn.push(result.toReturnMs);
      survivors += result.survivors;
    }
    return {
      toLastDeath: summarize(toLastDeath),
      toReturn: summarize(toReturn),
      processesPerRound: job.trees * PROCESSES_PER_TREE,
      survivors,
    };
  } finally {
    watcher.disconnect();
    await claw.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface RoundResult {
  readonly toLastDeathMs: number;
  readonly toReturnMs: number;
  readonly survivors: number;
}

async function runRound(claw: TrayClaw, watcher: ChildProcess, { trees, marker }: { trees: number; marker: string }): Promise<RoundResult> {
  for (let tree = 0; tree < trees; tree++) await startTree(claw, marker);
  const pids = await waitForProcesses(marker, trees * PROCESSES_PER_TREE);
  const order: WatchOrder = { pids };
  const watching = once(watcher, 'message');
  watcher.send(order);
  await watching;
  const reported = once(watcher, 'message') as Promise<[DeathReport]>;
  const startedAt = process.hrtime.bigint();
  await claw.op('panic.engage', { reason: 'bench' });
  const returnedAt = process.hrtime.bigint();
  const [report] = await reported;
  // Search again, because processes started during the stop are missing from the list.
  const survivors = findByCommandLine(marker);
  for (const pid of survivors) process.kill(pid, 'SIGKILL');
  await claw.op('panic.release', {});
  return {
    toLastDeathMs: Number(BigInt(report.lastDeathAt) - startedAt) / 1e6,
    toReturnMs: Number(returnedAt - startedAt) / 1e6,
    survivors: survivors.length,
  };
}

/** Retries, because the runtime may still be removing the commands of the previous round and limits how many run at once. */
async function startTree(claw: TrayClaw, marker: string): Promise<void> {
  const deadlineMs = performance.now() + START_MS_MAX;
  for (;;) {
    const refused = await tryStartTree(claw, marker);
    if (refused === null) return;
    if (performance.now() > deadlineMs) throw new Error(`a tree did not start: ${refused}`);
    await sleep(50);
  }
}

/** Resolves to null if the tree runs, otherwise to the tool's message. */
async function tryStartTree(claw: TrayClaw, marker: string): Promise<string | null> {
  const sleeper = `sleep ${marker}`;
  const command = `${sleeper} & setsid ${sleeper} & (setsid ${sleeper} >/dev/null 2>&1 &) ; wait # ${marker}`;
  const started = await claw.op('tool.run', { tool: 'exec', args: { command, background: true }, wait: false });
  for (const { approvalId } of started.pending ?? []) {
    await claw.op('approval.decide', { approvalId, decision: 'approve', scope: { kind: 'once' } });
  }
  await claw.op('turn.wait', { turnId: started.turnId });
  const { calls } = await claw.op('turn.get', { turnId: started.turnId });
  return calls[0]?.outcome === 'ok' ? null : (calls[0]?.forUser ?? 'no call was recorded');
}

/** Waits until exactly this many run, twice in a row: a shell that is about to exec another program would be counted too. */
async function waitForProcesses(marker: string, count: number): Promise<number[]> {
  const deadlineMs = performance.now() + START_MS_MAX;
  let before = '';
  for (;;) {
    const pids = findByCommandLine(marker);
    const seen = pids.join(' ');
    if (pids.length === count && seen === before) return pids;
    if (performance.now() > deadlineMs) throw new Error(`${pids.length} processes run instead of ${count}`);
    before = seen;
    await sleep(50);
  }
}

/** A duration that no other sleep on the machine has, so that the command line identifies the round. */
function markerOf(round: number): string {
  return `${3000 + round}.${process.pid}`;
}
