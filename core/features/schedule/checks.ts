// The health check of schedules: a due time must not pass without an outcome.

import { counted } from '../../base/counted.ts';
import type { ScheduleView } from '../../contracts/features/schedule.ts';
import { unwell, well, type Finding, type HealthSource } from '../../contracts/health.ts';

const OVERDUE_MS = 600_000;

interface Checked {
  readonly schedules: () => readonly ScheduleView[];
  readonly nowMs: () => number;
}

export function scheduleChecks(checked: Checked): HealthSource {
  return { check: () => [checkSchedules(checked)] };
}

function checkSchedules({ schedules, nowMs }: Checked): Finding {
  const enabled = schedules().filter((one) => one.enabled);
  const ill = enabled.flatMap((schedule) => {
    const why = problemOf(schedule, nowMs());
    return why === null ? [] : [`${schedule.name} (${schedule.scheduleId}) ${why}`];
  });
  if (ill.length === 0)
    return well('schedules', enabled.length === 0 ? 'Nothing is scheduled.' : `${counted(enabled.length, 'schedule')} on time.`);
  const more = ill.length > 3 ? ` and ${ill.length - 3} more` : '';
  return unwell(
    'schedules',
    `${ill.slice(0, 3).join('; ')}${more}.`,
    'Run it now with trayclaw schedules run ID, or change or remove it: trayclaw schedules list',
  );
}

/** The problem of a schedule whose due time passed without an outcome, or null. */
function problemOf({ spec, nextMs, last }: ScheduleView, nowMs: number): string | null {
  const [newest] = last;
  if (newest?.disposition === 'missed') return 'missed its last time';
  if (newest?.disposition === 'refused') return `could not be started: ${newest.reason ?? 'it was refused'}`;
  if (spec.kind === 'at') return newest === undefined && spec.atMs < nowMs - OVERDUE_MS ? 'is overdue' : null;
  return nextMs.length === 0 ? 'can never be due' : null;
}
