// Operations on schedules, the heartbeat and the task list. Thin: what they do is the runtime's.

import type { OpHandlers } from '../../contracts/ops.ts';
import type { OpsDeps } from './deps.ts';

type ScheduleOps = Pick<
  OpHandlers,
  | 'schedule.list'
  | 'schedule.get'
  | 'schedule.create'
  | 'schedule.update'
  | 'schedule.remove'
  | 'schedule.run'
  | 'schedule.preview'
  | 'heartbeat.get'
  | 'heartbeat.run'
  | 'task.list'
  | 'task.add'
  | 'task.close'
>;

const PREVIEWED = 5;
const TASKS_SHOWN = 200;

export function createScheduleOps(deps: OpsDeps): ScheduleOps {
  return {
    'schedule.list': () => ({ schedules: deps.schedules.list(), clockJump: deps.signals.clockwork.clockJump }),
    'schedule.get': ({ scheduleId, limit }) => deps.schedules.get(scheduleId, limit),
    'schedule.create': (wish, caller) => deps.schedules.create(wish, { by: caller.actor }),
    'schedule.update': ({ scheduleId, ...wish }, caller) => deps.schedules.update(scheduleId, wish, caller.actor),
    'schedule.remove': ({ scheduleId }, caller) => {
      deps.schedules.remove(scheduleId, caller.actor);
      return { scheduleId };
    },
    'schedule.run': ({ scheduleId }, caller) => {
      const { kept, entry } = deps.schedules.firingNow(scheduleId, caller.actor);
      return deps.signals.fire(kept, entry);
    },
    'schedule.preview': ({ spec, count = PREVIEWED }) => ({ nextMs: deps.schedules.preview(spec, count) }),
    'heartbeat.get': () => deps.signals.heartbeat.state(),
    'heartbeat.run': async () => {
      await deps.signals.heartbeat.run();
      return deps.signals.heartbeat.state();
    },
    'task.list': ({ all = false, limit = TASKS_SHOWN }) => ({ tasks: deps.schedules.tasks(all ? 'all' : 'open', limit) }),
    'task.add': ({ text }, caller) => deps.schedules.addTask({ text }, { by: caller.actor }),
    'task.close': ({ taskId, how }, caller) => deps.schedules.closeTask(taskId, how, caller.actor),
  };
}
