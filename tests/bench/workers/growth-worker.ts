// Runs one session and reports what its turns recorded and allocated in several windows. Runs in a separate process, so that nothing else
// allocates in it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTrayClaw, type AnyEvent, type TrayClaw } from '../../../core/index.ts';
import { makeListedFolders } from '../subjects/trayclaw.ts';
import { allocatedBy } from './work-of-turns.ts';
import { serveJob } from './worker.ts';

export interface GrowthJob {
  readonly baseUrl: string;
  /** The last turn of each window, ascending. */
  readonly marks: readonly number[];
  readonly windowTurns: number;
}

export interface GrowthWindow {
  /** The types of the events recorded, in order. */
  readonly types: readonly string[];
  readonly recordedBytes: number;
  readonly allocatedBytes: number;
}

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

/** Long enough that repeated processing of the whole history would outweigh the turn itself. */
function message(turn: number): string {
  return `Turn ${String(turn).padStart(4, '0')}. ${'Please look at this once more. '.repeat(60)}`;
}

async function readTurn(claw: TrayClaw, sessionId: string, turnId: string): Promise<AnyEvent[]> {
  const view = await claw.op('session.get', { sessionId, limit: EVENTS_PER_TURN_MAX });
  return (view.events as AnyEvent[]).filter((event) => event.turnId === turnId);
}

async function measureWindow(work: () => Promise<AnyEvent[][]>): Promise<GrowthWindow> {
  let events: AnyEvent[] = [];
  const allocatedBytes = await allocatedBy(async () => {
    events = (await work()).flat();
  });
  return {
    types: events.map((event) => event.type),
    recordedBytes: events.reduce((sum, event) => sum + JSON.stringify(event.body).length, 0),
    allocatedBytes,
  };
}
