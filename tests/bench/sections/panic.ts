// The panic stop with twenty process trees running.

import { ownName, type Figure } from '../figures.ts';
import type { BenchContext } from '../section.ts';
import type { PanicFigures, PanicJob } from '../workers/panic-worker.ts';
import { runWorker } from '../workers/worker.ts';

const ROUNDS = 20;
const TREES = 20;

export async function measurePanic(context: BenchContext): Promise<Figure[]> {
  if (process.platform !== 'linux') {
    context.say('panic: deaths are watched through /proc, which only Linux has');
    return [];
  }
  context.say(`panic: ${ROUNDS} rounds with ${TREES} process trees`);
  const job: PanicJob = { libraryFile: context.libraryFile, rounds: context.count(ROUNDS), trees: TREES };
  const taken = await runWorker<PanicJob, PanicFigures>('panic-worker.ts', job);
  const { toLastDeath, toReturn, processesPerRound, survivors } = taken;
  const common = { section: 'panic', subject: ownName, unit: 'ms' } as const;
  const note = `${processesPerRound} processes, n ${toLastDeath.count}, ${survivors} survivors`;
  return [
    { ...common, name: 'op to last death', p50: toLastDeath.p50, p99: toLastDeath.p99, max: toLastDeath.max, note },
    { ...common, name: 'op to its return', p50: toReturn.p50, p99: toReturn.p99, max: toReturn.max },
  ];
}
