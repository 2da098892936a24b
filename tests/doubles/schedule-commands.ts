// For tests only: commands about schedules and signals, each with its operation and its output.

import { expect } from 'vitest';
import type { OpName } from '../../core/contracts/ops.ts';
import { heartbeatState, scheduleView, taskOf } from './schedule-answers.ts';

export const scheduleCommands: readonly { argv: string[]; op: OpName; params: unknown; json: unknown }[] = [
  { argv: ['schedule', 'list'], op: 'schedule.list', params: {}, json: [scheduleView] },
  {
    argv: [
      'schedule',
      'add',
      'Look',
      '--every',
      '15m',
      '--tools',
      'read_file',
      '--usd',
      '0.5',
      '--approval-minutes',
      '2',
      '--missed',
      'skip',
    ],
    op: 'schedule.create',
    params: {
      name: 'Look',
      prompt: 'Look',
      spec: { kind: 'every', everyMs: 900_000 },
      bounds: { ...scheduleView.bounds, tools: ['read_file'], usd: 0.5 },
      missed: 'skip',
      approvalMs: 120_000,
    },
    json: scheduleView,
  },
  { argv: ['schedule', 'show', 'sch_1'], op: 'schedule.get', params: { scheduleId: 'sch_1', limit: 20 }, json: scheduleView },
  { argv: ['schedule', 'run', 'sch_1'], op: 'schedule.run', params: { scheduleId: 'sch_1' }, json: { sessionId: 's', turnId: 't' } },
  { argv: ['schedule', 'pause', 'sch_1'], op: 'schedule.update', params: { scheduleId: 'sch_1', enabled: false }, json: scheduleView },
  { argv: ['schedule', 'resume', 'sch_1'], op: 'schedule.update', params: { scheduleId: 'sch_1', enabled: true }, json: scheduleView },
  { argv: ['schedule', 'remove', 'sch_1'], op: 'schedule.remove', params: { scheduleId: 'sch_1' }, json: { scheduleId: 'sch_1' } },
  {
    argv: ['schedule', 'next', '--at', '2026-03-29T02:30', '--zone', 'Europe/Berlin', '--count', '3'],
    op: 'schedule.preview',
    params: { spec: { kind: 'at', local: '2026-03-29T02:30', zone: 'Europe/Berlin' }, count: 3 },
    json: { nextMs: [1] },
  },
  { argv: ['heartbeat', 'show'], op: 'heartbeat.get', params: {}, json: heartbeatState },
  { argv: ['heartbeat', 'run'], op: 'heartbeat.run', params: {}, json: heartbeatState },
  { argv: ['tasks', 'list', '--all'], op: 'task.list', params: { all: true }, json: [taskOf('tsk_1')] },
  { argv: ['tasks', 'add', 'two', 'words'], op: 'task.add', params: { text: 'two words' }, json: taskOf('tsk_1') },
  { argv: ['tasks', 'done', 'tsk_1'], op: 'task.close', params: { taskId: 'tsk_1', how: 'done' }, json: taskOf('tsk_1') },
  { argv: ['tasks', 'drop', 'tsk_1'], op: 'task.close', params: { taskId: 'tsk_1', how: 'dropped' }, json: taskOf('tsk_1') },
  { argv: ['signals', 'list', '--source', 'webhook'], op: 'signal.list', params: { source: 'webhook' }, json: [] },
  {
    argv: ['signals', 'send', 'build', 'it', 'failed', '--attention', 'run', '--data', '{"n":1}', '--key', 'k'],
    op: 'signal.send',
    params: { name: 'build', text: 'it failed', attention: 'run', data: { n: 1 }, dedupeKey: 'k' },
    json: expect.objectContaining({ disposition: 'run', repeated: false }),
  },
];
