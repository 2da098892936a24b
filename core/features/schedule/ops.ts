// Operations on schedules, the heartbeat and the task list. Thin: the feature does the work.

import type { OpHandlers } from '../../contracts/ops.ts';
import type { scheduleOps, ScheduleFired } from '../../contracts/features/schedule.ts';
import type { Clockwork } from './clockwork.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { KeptSchedule } from './rows.ts';
import type { Schedules } from './schedules.ts';

type ScheduleOps = Pick<OpHandlers, keyof typeof scheduleOps>;

interface Handled {
  readonly schedules: Schedules;
  readonly heartbeat: Heartbeat;
  readonly clockwork: Pick<Clockwork, 'clockJump'>;
  /** Starts the turn of a schedule. Fails as a message does. */
  readonly fire: (kept: KeptSchedule, entry: ScheduleFired) => { sessionId: string; turnId: string };
}

const PREVIEWED = 5;
const TASKS_SHOWN = 200;

export function createScheduleOps({ schedules, heartbeat, clockwork, fire }: Handled): ScheduleOps {
  return {
    'schedule.list': () => ({ schedules: schedules.list(), clockJump: clockwork.clockJump }),
    'schedule.get': ({ scheduleId, limit }) => schedules.get(scheduleId, limit),
    'schedule.create': (wish, caller) => schedules.create(wish, { by: caller.actor }),
    'schedule.update': ({ scheduleId, ...wish }, caller) => schedules.update(scheduleId, wish, caller.actor),
    'schedule.remove': ({ scheduleId }, caller) => {
      schedules.remove(scheduleId, caller.actor);
      return { scheduleId };
    },
    'schedule.run': ({ scheduleId }, caller) => {
      const { kept, entry } = schedules.firingNow(scheduleId, caller.actor);
      return fire(kept, entry);
    },
    'schedule.preview': ({ spec, count = PREVIEWED }) => ({ nextMs: schedules.preview(spec, count) }),
    'heartbeat.get': () => heartbeat.state(),
    'heartbeat.run': async () => {
      await heartbeat.run();
      return heartbeat.state();
    },
    'task.list': ({ all = false, limit = TASKS_SHOWN }) => ({ tasks: schedules.tasks(all ? 'all' : 'open', limit) }),
    'task.add': ({ text }, caller) => schedules.addTask({ text }, { by: caller.actor }),
    'task.close': ({ taskId, how }, caller) => schedules.closeTask(taskId, how, caller.actor),
  };
}
