// Measures what a turn costs as one session grows. The code is warmed up on other sessions first; otherwise the early turns would look
// expensive and the growth small. Around each mark a window of turns is timed, and directly after it their replay.

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { laneUrl } from '../model-server/model-server.ts';
import { profile } from '../profile-summary.ts';
import { findSubject } from '../subjects/registry.ts';
import { prompt, type Subject } from '../subjects/subject.ts';
import { createSamples, overheadOf, timeReplays, timeTurn, type Overhead, type Samples } from './timed-turns.ts';
import type { TurnJob } from './turn-worker.ts';
import { serveJob } from './worker.ts';

export interface SessionJob extends Omit<TurnJob, 'turns'> {
  /** The turns around which to measure, ascending; the last is the length of the session. */
  readonly marks: readonly number[];
  /** After this time the session ends wherever it is. */
  readonly budgetMs: number;
}

export interface SessionFigures {
  readonly marks: Readonly<Record<number, Overhead>>;
  readonly turnsDone: number;
  readonly rssBeforeBytes: number;
  readonly rssAfterBytes: number;
  readonly diskBytes: number;
}

const REPLAYS = 60;
/** The first marks pass quickly, so several short sessions contribute to their windows. */
const SHORT_SESSIONS = 6;
const SHORT_MARK_MAX = 10;

await serveJob(measure);

async function measure(job: SessionJob): Promise<SessionFigures> {
  await inSession(job, 'fresh', (subject) => runTurns(subject, job.warmTurns));
  const samples = new Map(job.marks.map((mark) => [mark, createSamples()]));
  const shortMarks = job.marks.filter((mark) => mark <= SHORT_MARK_MAX);
  const short = (): Promise<unknown> => inSession(job, 'growing', (subject) => grow(subject, { ...job, marks: shortMarks }, samples));
  for (let i = 0; i < SHORT_SESSIONS / 2; i++) await short();
  globalThis.gc?.();
  const rssBeforeBytes = process.memoryUsage.rss();
  const long = await inSession(job, 'growing', async (subject, folder) => {
    const turnsDone = await grow(subject, job, samples);
    const { profileFolder } = job;
    if (profileFolder !== null) await profile(profileFolder, () => runTurns(subject, REPLAYS));
    return { turnsDone, rssAfterBytes: process.memoryUsage.rss(), diskBytes: sizeOf(folder) };
  });
  for (let i = 0; i < SHORT_SESSIONS / 2; i++) await short();
  const marks = Object.fromEntries(
    [...samples].filter(([, taken]) => taken.replayMs.length > 0).map(([mark, taken]) => [mark, overheadOf(taken)]),
  );
  return { marks, rssBeforeBytes, ...long };
}

async function inSession<T>(
  job: SessionJob,
  session: 'growing' | 'fresh',
  work: (subject: Subject, folder: string) => Promise<T>,
): Promise<T> {
  const { libraryFile, format, script } = job;
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-bench-'));
  const baseUrl = laneUrl(job.origin, job.lane, script);
  const subject = await findSubject(job.subject)({ libraryFile, baseUrl, format, script, folder, session });
  try {
    return await work(subject, folder);
  } finally {
    await subject.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs the session up to the end of the last window. Returns its number of turns. */
async function grow(subject: Subject, job: SessionJob, samples: ReadonlyMap<number, Samples>): Promise<number> {
  const deadlineMs = performance.now() + job.budgetMs;
  let turn = 0;
  for (const mark of job.marks) {
    const window = windowOf(mark);
    const taken = samples.get(mark) ?? createSamples();
    for (turn += 1; turn < window.first; turn++) {
      if (performance.now() > deadlineMs) return turn - 1;
      await subject.turn(prompt(turn));
    }
    for (; turn <= window.last; turn++) await timeTurn(taken, subject, turn);
    turn -= 1;
    await timeReplays(taken, job, REPLAYS);
  }
  return turn;
}

/** Ten turns around an early mark, up to forty around a late one. */
function windowOf(mark: number): { first: number; last: number } {
  const half = Math.min(20, Math.max(5, Math.floor(mark / 10)));
  return { first: mark - half + 1, last: mark + half };
}

async function runTurns(subject: Subject, turns: number): Promise<void> {
  for (let turn = 1; turn <= turns; turn++) await subject.turn(prompt(turn));
}

function sizeOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
