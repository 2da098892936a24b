// The operations on signals, a part of the table in ops.ts.

import * as z from 'zod';
import { id } from './op-params.ts';
import { attentionSchema, signalReceivedSchema, signalSourceSchema } from './signal-events.ts';

const signalViewSchema = signalReceivedSchema.extend({ seq: z.number().int(), atMs: z.number().int() });
export type SignalView = z.infer<typeof signalViewSchema>;

export const signalOps = {
  /** Newest first. `before` is the `seq` of the last one seen. */
  'signal.list': {
    params: z.strictObject({
      source: signalSourceSchema.optional(),
      before: z.number().int().min(1).optional(),
      limit: z.number().int().min(1).max(200).optional(),
    }),
    result: z.object({ signals: z.array(signalViewSchema), nextBefore: z.number().int().nullable() }),
  },
  /** From an app or script of this user. The same `dedupeKey` again is no second signal. */
  'signal.send': {
    params: z.strictObject({
      name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be a name of letters, digits, dots and dashes'),
      text: z.string().min(1).max(20_000),
      data: z.unknown().optional(),
      attention: attentionSchema.optional(),
      sessionId: id.optional(),
      agentId: id.optional(),
      dedupeKey: z.string().min(1).max(200).optional(),
    }),
    result: signalReceivedSchema.extend({ repeated: z.boolean() }),
  },
  /** What came in on POST /hooks/NAME. The door has looked at nothing but sizes and rates. */
  'signal.hook': {
    params: z.strictObject({
      name: z.string().min(1).max(64),
      secret: z.string().max(1000),
      body: z.string().max(300_000),
      contentType: z.string().max(200).optional(),
      dedupeKey: z.string().min(1).max(200).optional(),
    }),
    result: z.object({ signalId: z.string(), repeated: z.boolean() }),
  },
} as const;
