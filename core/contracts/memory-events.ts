// The events of what is remembered; all stand in the system session. A part of the table in events.ts.

import * as z from 'zod';
import { memorySchema, memoryStateSchema } from './memory.ts';

const memoryId = z.string();

export const memoryEvents = {
  /** `rule` names why it is kept at once; null for a candidate. `pinned` where it was from the beginning. */
  'memory.remembered': z.object({
    memory: memorySchema,
    state: memoryStateSchema,
    rule: z.string().nullable(),
    pinned: z.boolean().optional(),
    /** Where it is older than its event: it was read in. */
    createdAtMs: z.number().int().optional(),
  }),
  /** The same was brought up again; a conversation counts once. */
  'memory.repeated': z.object({ memoryId, sessionId: z.string().nullable(), turnId: z.string().nullable(), by: z.string() }),
  'memory.promoted': z.object({ memoryId, by: z.string(), rule: z.string() }),
  'memory.rejected': z.object({ memoryId, by: z.string() }),
  'memory.pinned': z.object({ memoryId, pinned: z.boolean(), by: z.string() }),
  /** A turn was shown them, or a call found them. At most once a day for each. */
  'memory.recalled': z.object({ memoryIds: z.array(memoryId).min(1), sessionId: z.string(), turnId: z.string().nullable() }),
  /** Both cannot be so at the same time; a person settles which. */
  'memory.contradicted': z.object({ memoryId, otherId: z.string(), reason: z.string() }),
  'memory.settled': z.object({ memoryId, otherId: z.string(), keep: z.enum(['this', 'other', 'both']), by: z.string() }),
  /** Used nowhere from here on. The log keeps that it was remembered. */
  'memory.forgotten': z.object({ memoryId, by: z.string(), reason: z.string() }),
  /** What embedding came to: one event for a batch of texts, or for some questions together. */
  'embedding.used': z.object({
    model: z.string(),
    purpose: z.enum(['texts', 'questions']),
    count: z.number().int().positive(),
    tokens: z.number().int().nonnegative(),
    /** False where the server told none and they are an estimate. */
    tokensReported: z.boolean(),
    /** Null where the price is unknown. */
    costUsd: z.number().nonnegative().nullable(),
    tookMs: z.number().nonnegative(),
  }),
} as const;
