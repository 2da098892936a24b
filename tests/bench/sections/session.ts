// The cost of a turn, memory and disk use as one session grows to a thousand turns.

import { ownName, shown, type Figure } from '../figures.ts';
import type { BenchContext } from '../section.ts';
import type { SessionFigures, SessionJob } from '../workers/session-worker.ts';
import { runWorker } from '../workers/worker.ts';
import { overheadFigure } from './turn.ts';

const MARKS = [10, 100, 300, 1000];
const WARM_TURNS = 200;
const BUDGET_MS = 240_000;
const BYTES_PER_MB = 1_000_000;

export async function measureSession(context: BenchContext): Promise<Figure[]> {
  return measureGrowth(context, { id: 'trayclaw', label: ownName });
}

export async function measureGrowth(context: BenchContext, subject: { readonly id: string; readonly label: string }): Promise<Figure[]> {
  context.say(`session: ${subject.label}, ${MARKS.at(-1)} turns`);
  const lane = `${subject.id}-session`;
  const job: SessionJob = {
    subject: subject.id,
    libraryFile: context.libraryFile,
    origin: context.origin,
    lane,
    format: 'chat',
    script: { toolCalls: 0, tool: 'lookup' },
    warmTurns: context.count(WARM_TURNS),
    marks: MARKS,
    budgetMs: BUDGET_MS,
    profileFolder: context.profileFolder === null ? null : `${context.profileFolder}/${lane}`,
  };
  const taken = await runWorker<SessionJob, SessionFigures>('session-worker.ts', job, { nodeArgs: ['--expose-gc'] });
  return figuresOf(taken, subject.label);
}

function figuresOf(taken: SessionFigures, subject: string): Figure[] {
  const section = 'session';
  const figures = Object.entries(taken.marks).map(([mark, overhead]) =>
    overheadFigure({ section, name: `turn ${mark}`, subject }, overhead),
  );
  const first = taken.marks[10];
  const last = taken.marks[1000];
  const common = { section, subject };
  if (first !== undefined && last !== undefined) {
    const note = `overhead ${shown(first.overheadP50)} → ${shown(last.overheadP50)} ms`;
    const ownFirst = first.wallP50 - first.syncP50;
    const ownLast = last.wallP50 - last.syncP50;
    figures.push(
      { ...common, name: 'turn 1000 ÷ turn 10', unit: '×', p50: ratio(first.overheadP50, last.overheadP50), note },
      { ...common, name: 'the same, whole turn', unit: '×', p50: ownLast / ownFirst, note: 'with the model call and the growing request' },
    );
  } else
    figures.push({ ...common, name: 'turn 1000 ÷ turn 10', unit: '×', p50: Number.NaN, note: `stopped after ${taken.turnsDone} turns` });
  const grown = (taken.rssAfterBytes - taken.rssBeforeBytes) / BYTES_PER_MB;
  figures.push(
    { ...common, name: 'memory before', unit: 'MB', p50: taken.rssBeforeBytes / BYTES_PER_MB },
    {
      ...common,
      name: 'memory after',
      unit: 'MB',
      p50: taken.rssAfterBytes / BYTES_PER_MB,
      note: `${grown.toFixed(0)} MB more, replays included`,
    },
    { ...common, name: 'disk after', unit: 'MB', p50: taken.diskBytes / BYTES_PER_MB, note: `after ${taken.turnsDone} turns` },
  );
  return figures;
}

/**
 * The growth from `first` to `last`. Values at or below zero count as no growth; the lower bound keeps noise in a first turn near zero from
 * looking like growth.
 */
function ratio(first: number, last: number): number {
  const FLOOR_MS = 0.1;
  return Math.max(0, last) / Math.max(FLOOR_MS, first);
}
