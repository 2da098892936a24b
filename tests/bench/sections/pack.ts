// Context packs of a long session, and full-text search over a long log.

import { ownName, type Figure, type Unit } from '../figures.ts';
import type { BenchContext } from '../section.ts';
import type { Summary } from '../statistics.ts';
import type { PackFigures, PackJob } from '../workers/pack-worker.ts';
import { runWorker } from '../workers/worker.ts';

export async function measurePacks(context: BenchContext): Promise<Figure[]> {
  context.say('pack: a session of 1,000 messages; search over 10,000 and 100,000 documents');
  const job: PackJob = {
    messages: 1000,
    repetitions: context.count(50),
    documents: [context.count(10_000), context.count(100_000)],
    queries: context.count(100),
    sessionEvents: [1_000, 100_000],
    turns: [8, 50, 200],
  };
  const taken = await runWorker<PackJob, PackFigures>('pack-worker.ts', job);
  const figure = (name: string, summary: Summary, unit: Unit, note = `n ${summary.count}`): Figure => {
    const factor = unit === 'µs' ? 1000 : 1;
    return { section: 'pack', name, subject: ownName, unit, p50: summary.p50 * factor, p99: summary.p99 * factor, note };
  };
  return [
    figure('next pack of 1,000 messages', taken.hot, 'µs'),
    figure('first pack of 1,000 messages', taken.cold, 'ms', `read from the log, ${taken.tokens} tokens, n ${taken.cold.count}`),
    ...growthFigures(taken),
    ...taken.search.flatMap(({ documents, byWords }) =>
      Object.entries(byWords).map(([name, summary]) => figure(`search ${documents}: ${name}`, summary, 'ms')),
    ),
  ];
}

/** How the cost of a pack grows with a session that is compacted as it grows, and how much of the conversation is sent. */
function growthFigures({ growth, history }: PackFigures): Figure[] {
  const figure = { section: 'pack', subject: ownName };
  const [short, long] = growth;
  const packs = growth.flatMap(({ events, pack }): Figure[] => {
    const name = `next pack, ${events.toLocaleString('en-US')} events`;
    const taken = { ...figure, unit: 'ms' as const, p50: pack.p50, p99: pack.p99, max: pack.max, note: `n ${pack.count}` };
    return [
      { ...taken, name },
      { ...taken, name: `${name}, slowest` },
    ];
  });
  const ratio = long === undefined || short === undefined ? Number.NaN : long.pack.p50 / short.pack.p50;
  return [
    ...packs,
    { ...figure, name: '100,000 ÷ 1,000 events', unit: '×', p50: ratio },
    ...history.flatMap(({ turns, whole, ours }): Figure[] => [
      { ...figure, subject: 'whole transcript', name: `history at ${turns} turns`, unit: 'tokens', p50: whole },
      { ...figure, name: `history at ${turns} turns`, unit: 'tokens', p50: ours, note: `${Math.round((100 * ours) / whole)} % of it` },
    ]),
  ];
}
