// Years of use: the cost of a start, a list, a search, a turn and a backup in a data folder with a tenth of the events and with all of
// them. Also many sessions that stream at once.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownName, type Figure } from '../figures.ts';
import { laneUrl } from '../model-server/model-server.ts';
import type { BenchContext } from '../section.ts';
import type { FillJob, LookJob, ScaleFigures, SettleJob } from '../workers/scale-worker.ts';
import type { SideBySideFigures, SideBySideJob } from '../workers/side-by-side-worker.ts';
import { runWorker } from '../workers/worker.ts';

/** With `--scale 10`: 20,000 sessions and 5 million events, 100,000 memories and a million passages. */
const SESSIONS = 2_000;
const MEMORIES_EACH = 5;
const PASSAGES_EACH = 50;
const TURNS_EACH = 10;
const SIDE_BY_SIDE = 200;
/** An answer of 36 pieces, as fast as a quick model sends it. */
const PIECE_EVERY_MS = 20;
const BYTES_PER_MB = 1_000_000;

export async function measureScale(context: BenchContext): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-scale-'));
  const place = {
    home: join(folder, 'home'),
    libraryFile: context.libraryFile,
    baseUrl: laneUrl(context.origin, 'scale', { toolCalls: 1, tool: 'lookup' }),
  };
  const lookAt = async (sessions: number): Promise<ScaleFigures> => {
    context.say(`scale: ${sessions} sessions`);
    await runWorker<FillJob, null>('scale-worker.ts', { ...place, what: 'fill', sessions, turnsEach: TURNS_EACH });
    await runWorker<SettleJob, null>('scale-worker.ts', {
      ...place,
      what: 'settle',
      memories: sessions * MEMORIES_EACH,
      passages: sessions * PASSAGES_EACH,
    });
    return runWorker<LookJob, ScaleFigures>('scale-worker.ts', { ...place, what: 'look' });
  };
  try {
    const few = await lookAt(context.count(SESSIONS / 10));
    return [...figuresOf(few, await lookAt(context.count(SESSIONS))), ...(await measureSideBySide(context))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const figure = (name: string, unit: Figure['unit'], p50: number, note: string): Figure => ({
  section: 'scale',
  name,
  subject: ownName,
  unit,
  p50,
  note,
});

function figuresOf(few: ScaleFigures, many: ScaleFigures): Figure[] {
  const size = `${few.events} and ${many.events} events`;
  const times = Object.entries(many.tookMs).map(([name, ms]) => {
    const before = few.tookMs[name] ?? Number.NaN;
    return figure(name, 'ms', ms, `of processor; ${before.toFixed(2)} with a tenth of the events, × ${(ms / before).toFixed(2)}`);
  });
  const [started, used] = many.rssBytes;
  return [
    ...times,
    figure('memory', 'MB', used / BYTES_PER_MB, `${(started / BYTES_PER_MB).toFixed(0)} after the start; ${size}`),
    figure('disk', 'MB', many.diskBytes / BYTES_PER_MB, `${Math.round(many.diskBytes / many.events)} bytes an event`),
  ];
}

async function measureSideBySide(context: BenchContext): Promise<Figure[]> {
  const paced = laneUrl(`${context.origin}/every-${PIECE_EVERY_MS}`, 'side-by-side', { toolCalls: 0, tool: 'lookup' });
  const run = (sessions: number): Promise<SideBySideFigures> => {
    context.say(`scale: ${sessions} sessions side by side`);
    const job: SideBySideJob = { libraryFile: context.libraryFile, baseUrl: paced, sessions };
    return runWorker<SideBySideJob, SideBySideFigures>('side-by-side-worker.ts', job, { nodeArgs: ['--expose-gc'] });
  };
  const alone = await run(1);
  const { tookMs, gapMs, processorMs, rssBytesEach } = await run(SIDE_BY_SIDE);
  const name = `${SIDE_BY_SIDE} sessions side by side`;
  return [
    {
      ...figure(name, 'ms', tookMs.p50, `from message to end; one alone ${alone.tookMs.p50.toFixed(0)}`),
      p99: tookMs.p99,
      max: tookMs.max,
    },
    {
      ...figure(`${name}, the longest gap in an answer`, 'ms', gapMs.p50, `one alone ${alone.gapMs.p50.toFixed(0)}`),
      p99: gapMs.p99,
      max: gapMs.max,
    },
    figure(`${name}, processor of each`, 'ms', processorMs, `one alone ${alone.processorMs.toFixed(1)}`),
    figure(`${name}, memory of each`, 'KB', rssBytesEach / 1_000, 'at the most'),
  ];
}
