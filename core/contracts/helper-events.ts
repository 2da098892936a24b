// Helpers in the log: a call from one turn to another agent, its start, its end. They stand in the session and turn that called.

import * as z from 'zod';
import { usageSchema } from './llm.ts';
import { turnBoundsSchema } from './turn-bounds.ts';

/** Sessions of helpers begin so; nobody else's may. */
export const helperSessionPrefix = 'hlp_';

/** Where a call came from. */
export const helperParentSchema = z.object({ sessionId: z.string(), turnId: z.string(), callId: z.string() });

/** A turn whose money the helper spends as well: its caller's, and so on upwards. */
const helperPayerSchema = z.object({
  turnId: z.string(),
  sessionId: z.string(),
  continues: z.array(z.string()),
  usd: z.number().nullable(),
  tokens: z.number().nullable(),
});

/** What a turn of a helper knows of whoever called it. */
export const helperOriginSchema = z.object({
  jobId: z.string(),
  label: z.string(),
  from: helperParentSchema,
  /** The agent that called. */
  agentId: z.string(),
  /** Nearest first. */
  payers: z.array(helperPayerSchema),
});
export type HelperOrigin = z.infer<typeof helperOriginSchema>;

export const helperModeSchema = z.enum(['wait', 'background']);
export const helperEndSchema = z.enum(['done', 'failed', 'cancelled', 'timeout', 'over_budget', 'stopped']);
export type HelperEnd = z.infer<typeof helperEndSchema>;

export const helperEvents = {
  'a2a.called': z.object({
    jobId: z.string(),
    from: helperParentSchema,
    agentId: z.string(),
    task: z.string(),
    label: z.string(),
    /** What answers in it, where that is not the agent's own model: `skill/NAME` performs the steps of a skill. */
    model: z.string().optional(),
    /** wait: the call ends with the answer. background: the answer comes later, as a message. */
    mode: helperModeSchema,
    bounds: turnBoundsSchema,
    payers: z.array(helperPayerSchema),
    /** 1 for a helper of a conversation, 2 for a helper of that. */
    depth: z.number().int().min(1),
    /** A call that runs again with the same key meets the same job. */
    idempotencyKey: z.string(),
    /** Ended by then, whatever it is doing. */
    deadlineMs: z.number().int(),
  }),
  'a2a.started': z.object({ jobId: z.string(), sessionId: z.string(), turnId: z.string(), attempt: z.number().int().min(1) }),
  'a2a.retried': z.object({ jobId: z.string(), attempt: z.number().int().min(2), waitMs: z.number().int(), reason: z.string() }),
  'a2a.cancel_requested': z.object({ jobId: z.string(), by: z.string(), reason: z.string() }),
  'a2a.finished': z.object({
    jobId: z.string(),
    status: helperEndSchema,
    text: z.string(),
    usage: usageSchema,
    costUsd: z.number().nullable(),
  }),
} as const;
