// The operations on dead letters. A part of the table in ops.ts.

import * as z from 'zod';
import { deadLetterSchema } from './dead-letter.ts';
import { id, none } from './op-params.ts';

export const deadLetterOps = {
  /** Newest first. */
  'dlq.list': {
    params: z.strictObject({ limit: z.number().int().min(1).max(1000).optional() }),
    result: z.object({ letters: z.array(deadLetterSchema) }),
  },
  /** The same message again, in a turn of its own, whatever the program would do by itself. */
  'dlq.retry': { params: z.strictObject({ letterId: id }), result: z.object({ sessionId: z.string(), turnId: z.string() }) },
  /** Gives a letter up; without one, all but those that are being tried. */
  'dlq.clear': { params: none.extend({ letterId: id.optional() }), result: z.object({ cleared: z.number().int() }) },
} as const;
