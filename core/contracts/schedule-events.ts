// The events of schedules, heartbeat and task list; all stand in the system session. A part of the table in events.ts.

import * as z from 'zod';
import { scheduleFiredSchema, scheduleSchema } from './schedule.ts';
import { taintSourceSchema } from './tools.ts';

export const scheduleEvents = {
  'schedule.created': z.object({ schedule: scheduleSchema }),
  /** The whole schedule as it is from here on. With another time it starts anew: due times count from this moment. */
  'schedule.changed': z.object({ schedule: scheduleSchema, by: z.string() }),
  'schedule.removed': z.object({ scheduleId: z.string(), by: z.string() }),
  /** What became of a due time, or of several that stand together. */
  'schedule.fired': scheduleFiredSchema,
  /** The clock was set back: due times count from `toMs` again. What ran already does not run again. */
  'schedule.rewound': z.object({ fromMs: z.number().int(), toMs: z.number().int() }),
  /** A heartbeat's turn has ended. quiet: nothing to tell. repeated: the same was told within a day. */
  'heartbeat.ended': z.object({
    turnId: z.string(),
    outcome: z.enum(['quiet', 'told', 'repeated', 'failed']),
    /** Of the text, to tell a repetition. */
    textHash: z.string(),
    /** The chat it was sent to. */
    to: z.string().nullable(),
    /** Beats since the last one that ended, for which no model was asked: nothing to do, or outside of the active hours. */
    idle: z.number().int(),
  }),
  'task.added': z.object({
    taskId: z.string(),
    text: z.string(),
    by: z.string(),
    sessionId: z.string().nullable(),
    untrusted: z.array(taintSourceSchema),
  }),
  'task.closed': z.object({ taskId: z.string(), how: z.enum(['done', 'dropped']), by: z.string() }),
} as const;
