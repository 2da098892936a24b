// The operations on schedules, heartbeat and task list, a part of the table in ops.ts.

import * as z from 'zod';
import { id, none } from './op-params.ts';
import {
  jobBoundsSchema,
  missedPolicySchema,
  scheduleFiredSchema,
  scheduleSchema,
  scheduleSpecInputSchema,
  taskSchema,
} from './schedule.ts';

const wanted = {
  name: z.string().trim().min(1).max(100),
  prompt: z.string().trim().min(1).max(20_000),
  spec: scheduleSpecInputSchema,
  agentId: id.optional(),
  session: z.union([z.enum(['own', 'new']), id]).optional(),
  missed: missedPolicySchema.optional(),
  bounds: jobBoundsSchema.optional(),
  /** From a second to a day. */
  approvalMs: z.number().int().min(1000).max(86_400_000).optional(),
  enabled: z.boolean().optional(),
  deliver: z.string().min(1).max(200).nullable().optional(),
};

const firingSchema = scheduleFiredSchema.extend({
  atMs: z.number().int(),
  /** How its turn stands: queued, running, waiting or how it ended. */
  status: z.string().nullable(),
});

export const scheduleViewSchema = scheduleSchema.extend({
  /** The next due times, at most five; none while it is paused or over. */
  nextMs: z.array(z.number().int()),
  /** What became of the last due times, the newest first. */
  last: z.array(firingSchema),
});
export type ScheduleView = z.infer<typeof scheduleViewSchema>;

const heartbeatStateSchema = z.object({
  enabled: z.boolean(),
  everyMinutes: z.number().int(),
  nextMs: z.number().int().nullable(),
  file: z.string(),
  /** Why the last beat did what it did: a sentence. */
  lastOutcome: z.string().nullable(),
  lastAtMs: z.number().int().nullable(),
  lastTurnId: z.string().nullable(),
  /** Beats since the start for which no model was asked. */
  idle: z.number().int(),
});
export type HeartbeatState = z.infer<typeof heartbeatStateSchema>;

export const scheduleOps = {
  /** The clock's last jump, seen by comparing it with a steady one, while this instance ran. */
  'schedule.list': {
    params: none,
    result: z.object({
      schedules: z.array(scheduleViewSchema),
      clockJump: z.object({ atMs: z.number().int(), byMs: z.number().int() }).nullable(),
    }),
  },
  'schedule.get': {
    params: z.strictObject({ scheduleId: id, limit: z.number().int().min(1).max(200).optional() }),
    result: scheduleViewSchema,
  },
  'schedule.create': { params: z.strictObject(wanted), result: scheduleViewSchema },
  'schedule.update': {
    params: z.strictObject({ scheduleId: id, ...z.strictObject(wanted).partial().shape }),
    result: scheduleViewSchema,
  },
  'schedule.remove': { params: z.strictObject({ scheduleId: id }), result: z.object({ scheduleId: z.string() }) },
  /** Once now, beside its times. */
  'schedule.run': { params: z.strictObject({ scheduleId: id }), result: z.object({ sessionId: z.string(), turnId: z.string() }) },
  /** When something would be due. Keeps nothing. */
  'schedule.preview': {
    params: z.strictObject({ spec: scheduleSpecInputSchema, count: z.number().int().min(1).max(50).optional() }),
    result: z.object({ nextMs: z.array(z.number().int()) }),
  },
  'heartbeat.get': { params: none, result: heartbeatStateSchema },
  /** A beat now, outside of its times; with nothing to do no model is asked. */
  'heartbeat.run': { params: none, result: heartbeatStateSchema },
  'task.list': {
    params: z.strictObject({ all: z.boolean().optional(), limit: z.number().int().min(1).max(500).optional() }),
    result: z.object({ tasks: z.array(taskSchema) }),
  },
  'task.add': { params: z.strictObject({ text: z.string().trim().min(1).max(1000) }), result: taskSchema },
  'task.close': { params: z.strictObject({ taskId: id, how: z.enum(['done', 'dropped']) }), result: taskSchema },
} as const;
