// Appends to the session log: without waiting for the disk, with a durable commit, and at the end of a long log.

import { ownName, type Figure } from '../figures.ts';
import type { BenchContext } from '../section.ts';
import type { Summary } from '../statistics.ts';
import type { AppendFigures, AppendJob } from '../workers/append-worker.ts';
import { runWorker } from '../workers/worker.ts';

const GROWN_TO = 100_000;
const MICROSECONDS = 1000;

export async function measureAppends(context: BenchContext): Promise<Figure[]> {
  context.say('append: the session log, from the sources');
  const job: AppendJob = {
    events: context.count(5_000),
    barriers: context.count(300),
    batches: context.count(200),
    grownTo: context.count(GROWN_TO),
  };
  const taken = await runWorker<AppendJob, AppendFigures>('append-worker.ts', job);
  const figure = (name: string, summary: Summary): Figure => ({
    section: 'append',
    name,
    subject: ownName,
    unit: 'µs',
    p50: summary.p50 * MICROSECONDS,
    p99: summary.p99 * MICROSECONDS,
    note: `n ${summary.count}`,
  });
  return [
    figure('1 KB event, NORMAL', taken.normal),
    { ...figure('1 KB event, NORMAL', taken.bareTable), subject: 'bare SQLite table' },
    figure('1 KB event, barrier (FULL)', taken.barrier),
    figure('100 events, NORMAL', taken.batch),
    figure(`1 KB event after ${job.grownTo} events`, taken.grown),
    { section: 'append', name: 'long log ÷ short log', subject: ownName, unit: '×', p50: taken.grown.p50 / taken.normal.p50 },
  ];
}
