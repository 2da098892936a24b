// Dead letters: failed turns that wait for a retry or for a person. The settings, the events and the operations. Used by events.ts, ops.ts
// and config.ts.

import * as z from 'zod';
import { defineOps, id, most, none } from '../define-ops.ts';
import { errorBodySchema } from '../errors.ts';

/** Whether the same message may succeed later without any change. Decided by the error code alone. */
const failureNatureSchema = z.enum(['transient', 'permanent']);
export type FailureNature = z.infer<typeof failureNatureSchema>;

const capturedSchema = z.object({
  letterId: z.string(),
  turnId: z.string(),
  sessionId: z.string(),
  channel: z.string(),
  reason: errorBodySchema,
  nature: failureNatureSchema,
  /** 1 for the first failure. */
  attempt: z.number().int().min(1),
  /** When the program retries automatically; null if a person has to decide. */
  retryAtMs: z.number().int().nullable(),
  /** Why the decision is left to a person; empty if it is not. */
  left: z.string(),
});

export const deadLetterEvents = {
  /** In the system session. The same dead letter is captured again if a retry fails as well. */
  'dead_letter.captured': capturedSchema,
  /** The message runs again as another turn. */
  'dead_letter.retried': z.object({ letterId: z.string(), turnId: z.string(), byTurnId: z.string(), by: z.string() }),
  /** The program stops retrying; a person decides. */
  'dead_letter.left': z.object({ letterId: z.string(), why: z.string() }),
  /** Closed: a later try succeeded, or the conversation continued without it. */
  'dead_letter.settled': z.object({ letterId: z.string(), outcome: z.enum(['answered', 'overtaken']), byTurnId: z.string() }),
  'dead_letter.cleared': z.object({ letterId: z.string(), by: z.string() }),
} as const;

/** As captured last; the turn is the one that failed, or that of the retry in progress. */
export const deadLetterSchema = z.object({
  letterId: z.string(),
  /** `waiting`: retried automatically at `retryAtMs`. `retrying`: a retry is running. `left`: a person decides. */
  state: z.enum(['waiting', 'retrying', 'left']),
  ...capturedSchema.omit({ letterId: true }).shape,
  attempt: z.number().int(),
  firstAtMs: z.number().int(),
  lastAtMs: z.number().int(),
});
export type DeadLetter = z.infer<typeof deadLetterSchema>;

export const deadLettersConfigSchema = z
  .strictObject({
    /** Maximum retries of an unattended turn after a transient failure. */
    retries: z.number().int().min(0).max(10).default(3),
    firstWaitMs: z.number().int().min(100).max(86_400_000).default(30_000),
    longestWaitMs: z.number().int().min(100).max(86_400_000).default(3_600_000),
  })
  .prefault({});

export const deadLetterOps = defineOps({
  /** Newest first. */
  'dlq.list': {
    params: z.strictObject({ limit: z.number().int().min(1).max(1000).optional() }),
    result: z.object({ letters: z.array(deadLetterSchema) }),
    about: 'list the dead letters: failed turns that are kept for a retry',
    commands: { 'dlq list': { options: { limit: most }, example: '--limit 5' } },
  },
  /** Sends the same message again in a new turn, or continues a turn that a full disk ended. Independent of automatic retries. */
  'dlq.retry': {
    params: z.strictObject({ letterId: id }),
    result: z.object({ sessionId: z.string(), turnId: z.string() }),
    about: 'retry a failed turn now',
    forPerson: true,
    follows: true,
    commands: { 'dlq retry': { takes: ['letterId'], example: 'let_01JD7Q' } },
  },
  /** Drops a dead letter; without an id, all that are not being retried. */
  'dlq.clear': {
    params: none.extend({ letterId: id.optional() }),
    result: z.object({ cleared: z.number().int() }),
    about: 'clear a dead letter, or all that are not being retried',
    shows: 'Cleared: {cleared}.',
    forPerson: true,
    commands: { 'dlq clear': { takes: ['letterId?'], options: { '--all': 'all of them' }, example: '--all' } },
  },
});
