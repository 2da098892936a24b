// The operations on sessions, a part of the table in ops.ts.

import * as z from 'zod';
import { modelRefSchema } from './config.ts';
import { eventEnvelopeSchema } from './events.ts';
import { sessionInfoSchema } from './op-results.ts';
import { id } from './op-params.ts';
import { workspacePath } from './workspace-ops.ts';

const searchHitSchema = z.object({
  sessionId: z.string(),
  title: z.string(),
  seq: z.number().int(),
  atMs: z.number().int(),
  type: z.string(),
  excerpt: z.string(),
});

export const sessionOps = {
  /** Pinned ones first, then the newest. `cursor` is the `nextCursor` of the page before. */
  'session.list': {
    params: z.strictObject({
      archived: z.boolean().optional(),
      /** Also the conversations of helpers. */
      helpers: z.boolean().optional(),
      limit: z.number().int().min(1).max(1000).optional(),
      /** Only sessions that work in this folder; `null` is the configured workspace. */
      workspace: workspacePath.nullable().optional(),
      cursor: z.string().min(1).max(200).optional(),
    }),
    result: z.object({ sessions: z.array(sessionInfoSchema), nextCursor: z.string().nullable() }),
  },
  /**
   * `after` and `before` are global sequence numbers, as on the event stream; with neither, the newest events. `turns` requests the last
   * whole turns of that stretch, instead of a number of events. `types` filters the events.
   */
  'session.get': {
    params: z.strictObject({
      sessionId: id,
      after: z.number().int().min(0).optional(),
      before: z.number().int().min(1).optional(),
      limit: z.number().int().min(1).max(5000).optional(),
      turns: z.number().int().min(1).max(200).optional(),
      types: z.array(z.string().min(1).max(100)).min(1).max(100).optional(),
    }),
    result: z.object({
      session: sessionInfoSchema,
      events: z.array(eventEnvelopeSchema),
      /** Ask with this `before` for the page that comes before this one; null at the beginning of the session. */
      earlierBefore: z.number().int().nullable(),
    }),
  },
  'session.create': {
    params: z.strictObject({
      title: z.string().max(200).optional(),
      agentId: id.optional(),
      model: modelRefSchema.optional(),
      /** Absolute path of the folder it works in; its first turn asks a person unless the folder is trusted. */
      workspace: workspacePath.optional(),
    }),
    result: sessionInfoSchema,
  },
  'session.rename': { params: z.strictObject({ sessionId: id, title: z.string().min(1).max(200) }), result: sessionInfoSchema },
  'session.pin': { params: z.strictObject({ sessionId: id, pinned: z.boolean() }), result: sessionInfoSchema },
  /** A person has seen the session up to `seq`, a global position; all of it by default. Records nothing if nothing was unread. */
  'session.seen': { params: z.strictObject({ sessionId: id, seq: z.number().int().min(0).optional() }), result: sessionInfoSchema },
  /** Holds from the next turn on; a null model is the default one again. */
  'session.configure': {
    params: z.strictObject({ sessionId: id, model: modelRefSchema.nullable().optional(), agentId: id.optional() }),
    result: sessionInfoSchema,
  },
  /** Words are all wanted, the last one also as a beginning. `each` gives every session once, with its best place. */
  'session.search': {
    params: z.strictObject({
      query: z.string().min(1).max(1000),
      limit: z.number().int().min(1).max(200).optional(),
      sessionId: id.optional(),
      each: z.enum(['place', 'session']).optional(),
    }),
    result: z.object({ hits: z.array(searchHitSchema) }),
  },
  'session.fork': {
    params: z.strictObject({ sessionId: id, atSessionSeq: z.number().int().min(1).optional(), title: z.string().max(200).optional() }),
    result: sessionInfoSchema,
  },
  'session.export': {
    params: z.strictObject({ sessionId: id, format: z.enum(['jsonl', 'markdown']) }),
    result: z.object({ text: z.string() }),
  },
  'session.archive': { params: z.strictObject({ sessionId: id, archived: z.boolean() }), result: sessionInfoSchema },
  /** With the sessions of its helpers; `events` counts all that was removed. */
  'session.delete': { params: z.strictObject({ sessionId: id }), result: z.object({ sessionId: z.string(), events: z.number().int() }) },
} as const;
