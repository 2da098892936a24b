// Operations on schedules, the heartbeat and the task list. Thin: the feature does the work.

import { AppError } from '../../contracts/errors.ts';
import type { Caller, OpHandlers } from '../../contracts/ops.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import type { ScheduledTask, ScheduleFired } from '../../contracts/features/schedule.ts';
import type { Spine } from '../feature.ts';
import type { Clockwork } from './clockwork.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { KeptSchedule } from './rows.ts';
import type { Schedules } from './schedules.ts';

interface Handled {
  readonly schedules: Schedules;
  readonly heartbeat: Heartbeat;
  readonly clockwork: Pick<Clockwork, 'clockJump'>;
  /** Starts the turn of a schedule. Fails with the errors of sending a message. */
  readonly work: { read(given: Pick<Asked, 'file' | 'task'>, caller: Caller): ScheduledTask };
  readonly sources: Pick<Spine['sources'], 'ofFile'>;
  readonly fire: (kept: KeptSchedule, entry: ScheduleFired) => { sessionId: string; turnId: string };
}

const PREVIEWED = 5;
const TASKS_SHOWN = 200;

export function createScheduleOps({ schedules, heartbeat, clockwork, fire, ...reading }: Handled) {
  return {
    'schedule.list': () => ({ schedules: schedules.list(), clockJump: clockwork.clockJump }),
    'schedule.get': ({ scheduleId, limit }) => schedules.get(scheduleId, limit),
    'schedule.create': (wish, caller) => {
      const asked = requestOf(reading, wish, caller);
      if (asked === null) throw eitherPromptOrTask();
      return schedules.create(asked, { by: caller.actor });
    },
    'schedule.update': ({ scheduleId, ...wish }, caller) =>
      schedules.update(scheduleId, requestOf(reading, wish, caller) ?? withoutFile(wish), caller.actor),
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
  } satisfies Partial<OpHandlers>;
}

interface Asked {
  readonly prompt?: string | undefined;
  readonly task?: ScheduledTask | undefined;
  readonly file?: string | undefined;
}

/**
 * Returns the request with its prompt, or with its task and the task's goal as prompt. Null if neither is given. Fails with invalid_params
 * if they disagree.
 */
function requestOf<T extends Asked>(
  { work, sources }: Pick<Handled, 'work' | 'sources'>,
  wish: T,
  caller: Caller,
): (Omit<T, 'file'> & { prompt: string; untrusted?: readonly TaintSource[] }) | null {
  const { prompt, task, file } = wish;
  if (task === undefined && file === undefined) return prompt === undefined ? null : { ...withoutFile(wish), prompt };
  const read = work.read({ task, file }, caller);
  if (prompt !== undefined && prompt !== read.goal) throw eitherPromptOrTask();
  return { ...withoutFile(wish), prompt: read.goal, task: read, untrusted: file === undefined ? [] : sources.ofFile(file) };
}

function eitherPromptOrTask(): AppError {
  return new AppError('invalid_params', 'Give either `prompt`, or `task` or `file`.');
}

function withoutFile<T extends Asked>({ file: _file, ...wish }: T): Omit<T, 'file'> {
  return wish;
}
