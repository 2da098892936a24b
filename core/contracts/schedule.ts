// Schedules as they are kept and told: when something is due, what is then asked, and what such a turn may do while nobody watches.

import * as z from 'zod';
import { taintSourceSchema, toolClassSchema } from './tools.ts';

const moment = z.number().int().min(0).max(8_640_000_000_000_000);
const zoneSchema = z.string().min(1).max(100).describe('time zone, such as Europe/Berlin');

/** A minute is the finest grain there is: nothing that starts by itself may come more often. */
export const everyMsMin = 60_000;
const everyMsMax = 366 * 86_400_000;

/** As it is asked for. A local time that is skipped in spring means the first moment after it, one that comes twice the first of both. */
export const scheduleSpecInputSchema = z.union([
  z.strictObject({ kind: z.literal('at'), atMs: moment }),
  z.strictObject({
    kind: z.literal('at'),
    local: z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/, 'must be a local time such as 2026-03-29T02:30'),
    zone: zoneSchema.optional(),
  }),
  z.strictObject({ kind: z.literal('every'), everyMs: z.number().int().min(everyMsMin).max(everyMsMax), anchorMs: moment.optional() }),
  z.strictObject({ kind: z.literal('cron'), expr: z.string().min(1).max(200), zone: zoneSchema.optional() }),
]);
export type ScheduleSpecInput = z.infer<typeof scheduleSpecInputSchema>;

/** As it is kept: every moment and zone is settled, so that nothing depends on where and when it is read. */
export const scheduleSpecSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('at'), atMs: moment, local: z.string().optional(), zone: z.string().optional() }),
  z.object({ kind: z.literal('every'), everyMs: z.number().int(), anchorMs: moment }),
  z.object({ kind: z.literal('cron'), expr: z.string(), zone: z.string() }),
]);
export type ScheduleSpec = z.infer<typeof scheduleSpecSchema>;

/** What to do about due times that passed while nothing could run. `all`: one after the other, the newest few. */
export const missedPolicySchema = z.enum(['skip', 'once', 'all']);
export type MissedPolicy = z.infer<typeof missedPolicySchema>;

/** What such a turn may do, declared beforehand. It only narrows: nothing in it is a yes to anything. */
export const jobBoundsSchema = z.strictObject({
  tools: z.array(z.string().min(1).max(100)).max(200).nullable().default(null),
  classes: z.array(toolClassSchema).nullable().default(null),
  /** Folders that may be written. */
  folders: z.array(z.string().min(1).max(4096)).max(100).nullable().default(null),
  hosts: z.array(z.string().min(1).max(300)).max(200).nullable().default(null),
  steps: z.number().int().min(1).max(1000).nullable().default(null),
  turnMs: z.number().int().min(1000).max(86_400_000).nullable().default(null),
  usd: z.number().nonnegative().nullable().default(null),
  tokens: z.number().int().positive().nullable().default(null),
  /** Whether permissions a person gave until revoked also hold here. */
  grants: z.boolean().default(false),
});
export type JobBounds = z.infer<typeof jobBoundsSchema>;

export const scheduleSchema = z.object({
  scheduleId: z.string(),
  name: z.string(),
  prompt: z.string(),
  spec: scheduleSpecSchema,
  agentId: z.string(),
  /** `own`: one conversation of its own. `new`: another each time. Otherwise the id of a session. */
  session: z.string(),
  missed: missedPolicySchema,
  bounds: jobBoundsSchema,
  /** How long a question of such a turn waits for an answer before it is a no. */
  approvalMs: z.number().int(),
  enabled: z.boolean(),
  createdBy: z.string(),
  createdAtMs: z.number().int(),
  /** The chat its answer is sent to; `last` is the one used last. */
  deliver: z.string().nullable(),
  /** How many schedules made one another before this one: a person's is 0. */
  depth: z.number().int(),
  /** Whose words the prompt may hold, where an agent wrote it after reading words of others. */
  untrusted: z.array(taintSourceSchema),
});
export type Schedule = z.infer<typeof scheduleSchema>;

/**
 * run: a turn was started. missed: nothing could run then. overlap: its last turn was still open. paused: it was switched off.
 * panic: everything was stopped. refused: the turn could not be started.
 */
export const firedDispositionSchema = z.enum(['run', 'missed', 'overlap', 'paused', 'panic', 'refused']);
export type FiredDisposition = z.infer<typeof firedDispositionSchema>;

export const scheduleFiredSchema = z.object({
  scheduleId: z.string(),
  dueMs: z.number().int(),
  disposition: firedDispositionSchema,
  turnId: z.string().optional(),
  sessionId: z.string().optional(),
  /** This entry stands for all due times from `dueMs` to this one, both included. */
  untilMs: z.number().int().optional(),
  /** How many these are; at least, where `atLeast`. */
  count: z.number().int().optional(),
  atLeast: z.literal(true).optional(),
  /** A person or an agent asked for it; no due time is used up. */
  by: z.string().optional(),
  reason: z.string().optional(),
});
export type ScheduleFired = z.infer<typeof scheduleFiredSchema>;

export const taskSchema = z.object({
  taskId: z.string(),
  text: z.string(),
  state: z.enum(['open', 'done', 'dropped']),
  createdAtMs: z.number().int(),
  closedAtMs: z.number().int().nullable(),
  by: z.string(),
  sessionId: z.string().nullable(),
  untrusted: z.array(taintSourceSchema),
});
export type Task = z.infer<typeof taskSchema>;
