// A simulated month of schedules with crashes, sleep, two changes of daylight saving and clocks set in both directions: every due time ran
// once or is recorded with the reason, compared with an oracle that checks every minute. `npm test` covers eleven days around two of the
// changes; the long run covers whole months, each with other accidents.

import { expect, test } from 'vitest';
import type { ScheduleFired } from '../../core/contracts/features/schedule.ts';
import { dueByWalk } from './schedule/due-oracle.ts';
import { liveThroughMonth, type JobPlan, type MonthReport } from './schedule/month.ts';
import { isSoak, soak } from '../soak.ts';

const months = soak(0, 12);
const cron = (expr: string, zone: string, missed: JobPlan['missed']): JobPlan => ({ spec: { kind: 'cron', expr, zone }, missed });

const springMs = Date.parse('2026-03-05T00:00:00Z');
const autumnMs = Date.parse('2026-10-01T00:00:00Z');

const jobs: readonly JobPlan[] = [
  cron('30 2 * * *', 'Europe/Berlin', 'once'),
  cron('0,30 2-3 * * *', 'Europe/Berlin', 'skip'),
  cron('*/20 1-3 * * *', 'Europe/Berlin', 'all'),
  cron('30 2 * * 0', 'America/New_York', 'all'),
  cron('30 1 * * *', 'America/New_York', 'skip'),
  cron('15 * * * 1-5', 'America/New_York', 'once'),
  cron('15 2 * * *', 'Australia/Lord_Howe', 'once'),
  cron('45 1 * * *', 'Australia/Lord_Howe', 'skip'),
  cron('*/15 * * * *', 'Australia/Lord_Howe', 'skip'),
  cron('0 9 1,15 * *', 'UTC', 'all'),
  { spec: { kind: 'every', everyMs: 47 * 60_000, anchorMs: springMs }, missed: 'once' },
];

function expected(job: JobPlan, fromMs: number, toMs: number): number[] {
  const { spec } = job;
  if (spec.kind === 'cron') return dueByWalk(spec.expr, spec.zone ?? 'UTC', fromMs, toMs);
  if (spec.kind !== 'every') return [];
  const due: number[] = [];
  for (let atMs = fromMs + 1; atMs <= toMs; atMs++) {
    if ((atMs - (spec.anchorMs ?? 0)) % spec.everyMs !== 0) continue;
    due.push(atMs);
    atMs += spec.everyMs - 1;
  }
  return due;
}

/** The entries about one due time. */
function entriesOf(entries: readonly ScheduleFired[], dueMs: number): readonly ScheduleFired[] {
  return entries.filter((entry) => entry.dueMs <= dueMs && dueMs <= (entry.untilMs ?? entry.dueMs));
}

function judge(report: MonthReport, fromMs: number): { due: number; ran: number; recorded: number; wrong: string[] } {
  const sum = { due: 0, ran: 0, recorded: 0, wrong: [] as string[] };
  for (const [index, job] of jobs.entries()) {
    const entries = report.fired.filter((entry) => entry.job === index);
    const due = expected(job, fromMs, report.furthestMs);
    const known = new Set(due);
    sum.due += due.length;
    for (const dueMs of due) {
      const found = entriesOf(entries, dueMs);
      const ran = found.filter((entry) => entry.disposition === 'run').length;
      const cameAgain = report.again.some(({ fromMs: from, toMs: to }) => from < dueMs && dueMs <= to);
      sum.ran += ran;
      sum.recorded += ran === 0 ? 1 : 0;
      const isRight = ran <= 1 && found.length >= 1 && (cameAgain || found.length === 1);
      if (!isRight) sum.wrong.push(`job ${index} ${new Date(dueMs).toISOString()}: ${found.map((entry) => entry.disposition).join(' ')}`);
    }
    for (const { dueMs, disposition } of entries)
      if (!known.has(dueMs)) sum.wrong.push(`job ${index} was never due: ${dueMs} ${disposition}`);
    for (const entry of entries.filter(({ count }) => count !== undefined)) {
      const covered = due.filter((dueMs) => dueMs >= entry.dueMs && dueMs <= (entry.untilMs ?? 0)).length;
      // Runs from before the clock was set back fall into this range, and are not counted again.
      if (covered < (entry.count ?? 0)) sum.wrong.push(`job ${index} counts ${entry.count} where ${covered} were due`);
    }
  }
  const twice = report.messages.length - new Set(report.messages).size;
  if (twice > 0) sum.wrong.push(`${twice} messages twice`);
  return sum;
}

const shortMs = Date.parse('2026-10-23T00:00:00Z');
const short = { seed: 1, fromMs: shortMs, days: 11 };
const wholeMonths = Array.from({ length: months }, (_, index) => ({
  seed: index + 1,
  fromMs: index % 2 === 0 ? springMs : autumnMs,
  days: 35,
}));
const cases = months === 0 ? [short] : wholeMonths;

test.each(cases)(
  'month $seed: every due time runs once or is recorded',
  ({ seed, fromMs, days }) => {
    const report = liveThroughMonth({ seed, fromMs, days, jobs });
    const sum = judge(report, fromMs);
    if (isSoak) process.stdout.write(`${JSON.stringify({ seed, ...sum, ...report.counts })}\n`);
    expect(sum.wrong).toEqual([]);
    expect(sum.ran).toBeGreaterThan(sum.due / 3);
    const { crashes, tornFirings, suspends, jumpsBack } = report.counts;
    expect(Math.min(crashes, tornFirings, suspends, jumpsBack)).toBeGreaterThan(0);
  },
  600_000,
);

test('a scheduler that forgets what ran is detected', () => {
  expect(judge(liveThroughMonth({ ...short, jobs, forgetsDedupe: true }), shortMs).wrong).not.toEqual([]);
}, 60_000);
