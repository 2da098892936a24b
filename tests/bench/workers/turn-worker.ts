// Measures single turns of one subject, each in a new session, in batches that alternate with replays of the same HTTP calls, so that other
// load on the machine affects both equally.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { laneUrl, readLane, type Script } from '../model-server/model-server.ts';
import type { WireFormat } from '../model-server/replies.ts';
import { profile } from '../profile-summary.ts';
import { findSubject } from '../subjects/registry.ts';
import { prompt, type Subject } from '../subjects/subject.ts';
import { createSamples, overheadOf, timeReplays, timeTurn, type Overhead, type Samples } from './timed-turns.ts';
import { workOf, type TurnWork } from './work-of-turns.ts';
import { serveJob } from './worker.ts';

export interface TurnJob {
  readonly subject: string;
  readonly libraryFile: string;
  readonly origin: string;
  readonly lane: string;
  readonly format: WireFormat;
  readonly script: Script;
  readonly turns: number;
  readonly warmTurns: number;
  /** The folder for a CPU profile of the same number of turns again, without replays; null for none. */
  readonly profileFolder: string | null;
}

export interface TurnFigures extends Overhead {
  readonly httpCalls: number;
  readonly work: TurnWork;
}

const BATCH = 20;
const COUNTED_TURNS = 40;

await serveJob(measure);

async function measure(job: TurnJob): Promise<TurnFigures> {
  const { libraryFile, format, script } = job;
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-bench-'));
  const baseUrl = laneUrl(job.origin, job.lane, script);
  const subject = await findSubject(job.subject)({ libraryFile, baseUrl, format, script, folder, session: 'fresh' });
  try {
    const httpCalls = await countCalls(subject, job);
    await sample(subject, job, job.warmTurns);
    const figures = overheadOf(await sample(subject, job, job.turns));
    if (job.profileFolder !== null) await profile(job.profileFolder, () => runTurns(subject, job.turns));
    const work = await workOf(COUNTED_TURNS, (turns) => runTurns(subject, turns));
    return { ...figures, httpCalls, work };
  } finally {
    await subject.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function countCalls(subject: Subject, job: TurnJob): Promise<number> {
  await runTurns(subject, 1);
  const before = await readLane(job.origin, job.lane);
  await runTurns(subject, 1);
  const after = await readLane(job.origin, job.lane);
  return after.requests - before.requests;
}

async function sample(subject: Subject, job: TurnJob, turns: number): Promise<Samples> {
  const samples = createSamples();
  while (samples.wallMs.length < turns) {
    for (let i = 0; i < BATCH; i++) await timeTurn(samples, subject, samples.wallMs.length);
    await timeReplays(samples, job, BATCH);
  }
  return samples;
}

async function runTurns(subject: Subject, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await subject.turn(prompt(turn));
}
