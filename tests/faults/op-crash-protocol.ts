// The options of the process that is killed during an operation.

import * as z from 'zod';

export const opCrashOptionsSchema = z.object({
  home: z.string(),
  /** Null for the settings of the folder. */
  config: z.looseObject({}).nullable(),
  /** The operations to run, one after another. */
  ops: z.array(z.object({ op: z.string(), params: z.unknown() })),
  /** 0 kills nothing. */
  nth: z.number().int(),
  side: z.enum(['before', 'after']),
  /** Also counts the writes of the start and of closing. */
  fromStart: z.boolean(),
  /** The clock is ahead by so much, and the daily work runs. */
  daysAhead: z.number(),
  /** How long it runs after the operations. */
  restMs: z.number(),
});
export type OpCrashOptions = z.infer<typeof opCrashOptionsSchema>;
