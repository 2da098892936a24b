// Recall over many memories: by full-text search alone, and by full-text and vector search.

import { ownName, type Figure } from '../figures.ts';
import type { BenchContext } from '../section.ts';
import type { Summary } from '../statistics.ts';
import type { RecallFigures, RecallJob } from '../workers/recall-worker.ts';
import { runWorker } from '../workers/worker.ts';

const MEMORIES = 100_000;

export async function measureRecall(context: BenchContext): Promise<Figure[]> {
  context.say('recall: questions to many memories, from the sources');
  const job: RecallJob = { memories: context.count(MEMORIES), questions: context.count(300) };
  const { words, hybrid } = await runWorker<RecallJob, RecallFigures>('recall-worker.ts', job);
  const figure = (name: string, { p50, p99, max, count }: Summary): Figure => ({
    section: 'recall',
    name,
    subject: ownName,
    unit: 'ms',
    p50,
    p99,
    max,
    note: `n ${count}, ${job.memories} memories`,
  });
  return [figure('by words', words), figure('by words and meaning, 384 dimensions', hybrid)];
}
