// Subagents: a call from one turn to another agent, its start and its end. The events are recorded in the calling session and turn. Also
// the operations on agents and subagents. Used by events.ts and ops.ts.

import * as z from 'zod';
import { defineOps, id, none, sessionName } from '../define-ops.ts';
import { agentListingSchema } from '../agents.ts';
import { usageSchema } from '../llm.ts';
import { turnBoundsSchema } from '../turn-bounds.ts';

/** The origin of a call. */
export const helperParentSchema = z.object({ sessionId: z.string(), turnId: z.string(), callId: z.string() });

/** A turn whose budget the subagent spends as well: that of its caller, of the caller's caller, and so on. */
const helperPayerSchema = z.object({
  turnId: z.string(),
  sessionId: z.string(),
  continues: z.array(z.string()),
  usd: z.number().nullable(),
  tokens: z.number().nullable(),
});

/** Identifies the caller of a subagent's turn. */
export const helperOriginSchema = z.object({
  jobId: z.string(),
  label: z.string(),
  from: helperParentSchema,
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
    /** The model of the subagent's turn if it differs from the agent's model: `skill/NAME` performs the steps of a skill. */
    model: z.string().optional(),
    /** wait: the call ends with the answer. background: the answer arrives later, as a message. */
    mode: helperModeSchema,
    bounds: turnBoundsSchema,
    payers: z.array(helperPayerSchema),
    /** 1 for a subagent of a conversation, 2 for a subagent of such a subagent. */
    depth: z.number().int().min(1),
    /** A call that runs again with the same key finds the same job. */
    idempotencyKey: z.string(),
    /** The time at which the subagent is ended regardless of its progress. */
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

/** A call of a subagent and its state. */
const helperListingSchema = z.object({
  jobId: z.string(),
  agentId: z.string(),
  label: z.string(),
  task: z.string(),
  mode: helperModeSchema,
  state: z.enum(['queued', 'running', 'retrying', 'finished']),
  /** How it ended; null while it runs. */
  status: helperEndSchema.nullable(),
  text: z.string(),
  depth: z.number().int(),
  from: helperParentSchema,
  /** The subagent's session; null until it has begun. */
  helperSessionId: z.string().nullable(),
  helperTurnId: z.string().nullable(),
  attempt: z.number().int(),
  createdAtMs: z.number().int(),
  deadlineMs: z.number().int(),
  finishedAtMs: z.number().int().nullable(),
  costUsd: z.number().nullable(),
});
export type HelperListing = z.infer<typeof helperListingSchema>;

export const agentOps = defineOps({
  'agent.list': {
    params: none,
    result: z.object({ agents: z.array(agentListingSchema) }),
    about: 'list the agents, main first',
    commands: { 'agents list': { example: '' } },
  },
  /** Subagent calls, newest first, at most 1,000. Finished calls are included only on request. */
  'helper.list': {
    params: z.strictObject({ sessionId: sessionName.optional(), all: z.boolean().optional() }),
    result: z.object({ helpers: z.array(helperListingSchema) }),
    about: 'list the subagents that wait or run',
    commands: {
      'subagents list': { options: { sessionId: 'started in this session', all: 'also those that have ended' }, example: '--all' },
    },
  },
  /** Ends a subagent and all subagents that it called. Does nothing if it has already ended. */
  'helper.cancel': {
    params: z.strictObject({ jobId: id }),
    result: helperListingSchema,
    about: 'cancel a subagent and all that it started',
    commands: { 'subagents cancel': { takes: ['jobId'], example: 'job_01JD7Q' } },
  },
  'agent.get': {
    params: z.strictObject({ agentId: id }),
    result: agentListingSchema.extend({ identity: z.string() }),
    about: 'show an agent and its identity',
    commands: { 'agents show': { takes: ['agentId'], example: 'main' } },
  },
});
