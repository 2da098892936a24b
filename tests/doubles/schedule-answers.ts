// For tests only: a fake instance's answers about schedules, the heartbeat and tasks.

import type { HeartbeatState, ScheduleView, Task } from '../../core/contracts/features/schedule.ts';
import type { OpHandlers, OpName } from '../../core/contracts/ops.ts';
import { jobBoundsSchema } from '../../core/contracts/turn-bounds.ts';

export const taskOf = (taskId: string): Task => ({
  taskId,
  text: 'Ask for the invoice',
  state: 'open',
  createdAtMs: 1,
  closedAtMs: null,
  by: 'cli',
  sessionId: null,
  untrusted: [],
});

export const heartbeatState: HeartbeatState = {
  enabled: true,
  everyMinutes: 30,
  nextMs: 5,
  file: '/h/workspace/HEARTBEAT.md',
  lastOutcome: 'There was nothing to tell.',
  lastAtMs: 4,
  lastTurnId: null,
  idle: 2,
};

export const scheduleView: ScheduleView = {
  scheduleId: 'sch_1',
  name: 'Look',
  prompt: 'Look',
  spec: { kind: 'every', everyMs: 900_000, anchorMs: 0 },
  agentId: 'main',
  session: 'own',
  missed: 'once',
  bounds: jobBoundsSchema.parse({}),
  approvalMs: 1000,
  enabled: true,
  createdBy: 'cli',
  createdAtMs: 1,
  deliver: null,
  depth: 0,
  untrusted: [],
  nextMs: [900_000],
  last: [{ scheduleId: 'sch_1', dueMs: 1, atMs: 2, disposition: 'run', turnId: 't', status: 'done' }],
};

export const scheduleAnswers: Pick<OpHandlers, Extract<OpName, `schedule.${string}` | `heartbeat.${string}` | `task.${string}`>> = {
  'schedule.list': () => ({ schedules: [scheduleView], clockJump: null }),
  'schedule.get': () => scheduleView,
  'schedule.create': () => scheduleView,
  'schedule.update': () => scheduleView,
  'schedule.remove': ({ scheduleId }) => ({ scheduleId }),
  'schedule.run': () => ({ sessionId: 's', turnId: 't' }),
  'schedule.preview': () => ({ nextMs: [1] }),
  'heartbeat.get': () => heartbeatState,
  'heartbeat.run': () => heartbeatState,
  'task.list': () => ({ tasks: [taskOf('tsk_1')] }),
  'task.add': () => taskOf('tsk_1'),
  'task.close': () => taskOf('tsk_1'),
};
