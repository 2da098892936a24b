// The operations on agents and helpers, a part of the table in ops.ts.

import * as z from 'zod';
import { agentListingSchema } from './agents.ts';
import { helperEndSchema, helperModeSchema, helperParentSchema } from './helper-events.ts';
import { id, none } from './op-params.ts';

/** A call of a helper and how it stands. */
const helperListingSchema = z.object({
  jobId: z.string(),
  agentId: z.string(),
  label: z.string(),
  task: z.string(),
  mode: helperModeSchema,
  state: z.enum(['queued', 'running', 'retrying', 'finished']),
  /** How it ended; null while it has not. */
  status: helperEndSchema.nullable(),
  text: z.string(),
  depth: z.number().int(),
  from: helperParentSchema,
  /** Its own conversation, once it began. */
  helperSessionId: z.string().nullable(),
  helperTurnId: z.string().nullable(),
  attempt: z.number().int(),
  createdAtMs: z.number().int(),
  deadlineMs: z.number().int(),
  finishedAtMs: z.number().int().nullable(),
  costUsd: z.number().nullable(),
});
export type HelperListing = z.infer<typeof helperListingSchema>;

export const agentOps = {
  'agent.list': { params: none, result: z.object({ agents: z.array(agentListingSchema) }) },
  /** `identity` is what stands below the standing instructions, as it is now. */
  /** Calls of helpers, the newest first, at most 1,000; those that have ended only when asked for. */
  'helper.list': {
    params: z.strictObject({ sessionId: id.optional(), all: z.boolean().optional() }),
    result: z.object({ helpers: z.array(helperListingSchema) }),
  },
  /** Ends a helper with whatever it called. Nothing happens to one that has ended. */
  'helper.cancel': { params: z.strictObject({ jobId: id }), result: helperListingSchema },
  'agent.get': { params: z.strictObject({ agentId: id }), result: agentListingSchema.extend({ identity: z.string() }) },
} as const;
