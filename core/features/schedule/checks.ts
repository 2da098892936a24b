// The health checks of schedules: a due time must not pass without an outcome, and a report needs a chat that exists.

import { counted } from '../../base/counted.ts';
import type { ScheduleView } from '../../contracts/features/schedule.ts';
import { unwell, well, type Finding, type HealthSource } from '../../contracts/health.ts';

const OVERDUE_MS = 600_000;

interface Checked {
  readonly schedules: () => readonly ScheduleView[];
  readonly nowMs: () => number;
  /** `heartbeat.deliver` of the settings; null if the heartbeat is off. */
  readonly deliver: string | null;
  readonly knowsChat: (name: string) => boolean;
}

export function scheduleChecks(checked: Checked): HealthSource {
  return { check: () => [checkSchedules(checked), checkHeartbeat(checked)] };
}

function checkHeartbeat({ deliver, knowsChat }: Checked): Finding {
  if (deliver === null) return well('heartbeat', 'The heartbeat is off.');
  if (deliver === 'none') return well('heartbeat', 'The heartbeat reports to no chat.');
  // Before the first message of a channel there is none, which is not a fault.
  if (deliver === 'last') return well('heartbeat', 'The heartbeat reports to the chat used last.');
  if (knowsChat(deliver)) return well('heartbeat', `The heartbeat reports to ${deliver}.`);
  return unwell(
    'heartbeat',
    `There is no chat ${deliver}, so the reports of the heartbeat go nowhere.`,
    'Set heartbeat.deliver to a chat of trayclaw chats list, such as telegram:42, or to last or none.',
  );
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
    'Run it now with trayclaw schedule run ID, or change or remove it: trayclaw schedule list',
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
