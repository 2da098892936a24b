// Runs one session and reports what windows of its turns recorded and allocated. In a separate process, so that nothing else allocates in
// it.

import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTrayClaw, type AnyEvent, type TrayClaw } from '../../../core/index.ts';
import { makeListedFolders } from '../subjects/trayclaw.ts';
import { serveJob } from './worker.ts';

export interface GrowthJob {
  readonly baseUrl: string;
  /** The last turns of the windows, ascending. */
  readonly marks: readonly number[];
  readonly windowTurns: number;
}

export interface GrowthWindow {
  /** The types of the events recorded, in order. */
  readonly types: readonly string[];
  readonly recordedBytes: number;
  readonly allocatedBytes: number;
}

interface AllocationNode {
  readonly selfSize: number;
  readonly children: readonly AllocationNode[];
}

const SAMPLE_EVERY_BYTES = 1024;
const EVENTS_PER_TURN_MAX = 60;

await serveJob(measure);

async function measure(job: GrowthJob): Promise<GrowthWindow[]> {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-growth-'));
  makeListedFolders(join(home, 'workspace'));
  const claw = await createTrayClaw({
    home,
    config: {
      providers: { bench: { kind: 'openai-compatible', baseUrl: job.baseUrl, contextTokens: 2_000_000 } },
      models: { default: 'bench/bench' },
    },
  });
  try {
    const { sessionId } = await claw.ask(message(0));
    let turn = 1;
    const runUntil = async (end: number): Promise<AnyEvent[][]> => {
      const recorded: AnyEvent[][] = [];
      for (; turn < end; turn++) {
        const { turnId } = await claw.ask(message(turn), { sessionId });
        recorded.push(await readTurn(claw, sessionId, turnId));
      }
      return recorded;
    };
    const windows: GrowthWindow[] = [];
    for (const mark of job.marks) {
      await runUntil(mark - job.windowTurns);
      windows.push(await measureWindow(() => runUntil(mark)));
    }
    return windows;
  } finally {
    await claw.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** Long enough that repeated work on the whole history would outweigh the turn itself. */
function message(turn: number): string {
  return `Turn ${String(turn).padStart(4, '0')}. ${'Please look at this once more. '.repeat(60)}`;
}

async function readTurn(claw: TrayClaw, sessionId: string, turnId: string): Promise<AnyEvent[]> {
  const view = await claw.op('session.get', { sessionId, limit: EVENTS_PER_TURN_MAX });
  return (view.events as AnyEvent[]).filter((event) => event.turnId === turnId);
}

/** Allocations as V8's sampler sees them, with what was collected meanwhile. */
async function measureWindow(work: () => Promise<AnyEvent[][]>): Promise<GrowthWindow> {
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.enable');
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: SAMPLE_EVERY_BYTES,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
    const events = (await work()).flat();
    const { profile } = await session.post('HeapProfiler.stopSampling');
    return {
      types: events.map((event) => event.type),
      recordedBytes: events.reduce((sum, event) => sum + JSON.stringify(event.body).length, 0),
      allocatedBytes: bytesOf(profile.head),
    };
  } finally {
    session.disconnect();
  }
}

function bytesOf(node: AllocationNode): number {
  return node.children.reduce((sum, child) => sum + bytesOf(child), node.selfSize);
}
