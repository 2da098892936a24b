// The sections of config.yaml about what starts by itself: signals from outside, schedules and the heartbeat. A part of config.ts.

import * as z from 'zod';
import { attentionSchema } from './signal-events.ts';

/** What a turn may do that starts by itself; only ever less than usual. */
const narrowed = {
  /** No other tools. */
  tools: z.array(z.string().min(1).max(64)).max(200).optional(),
  /** At most, each time. */
  perTurnUsd: z.number().nonnegative().optional(),
};

const target = {
  attention: attentionSchema.default('observe'),
  agent: z.string().min(1).max(100).optional(),
  /** The session it belongs to; one of its own when left out. */
  session: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/)
    .optional(),
  ...narrowed,
};

const zone = z.string().min(1).max(100);
const timeOfDay = z.string().regex(/^([01]\d|2[0-4]):[0-5]\d$/, 'must be a time such as 08:00');

/** `secretRef` is that of config.ts; handed in, because that file imports this one. */
export function signalSections(secretRef: z.ZodString) {
  return {
    signals: z
      .strictObject({
        /** By name: POST /hooks/NAME. */
        webhooks: z
          .record(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/), z.strictObject({ ...target, secret: secretRef }))
          .default({}),
        /** Files and folders; a folder means what lies directly in it. */
        watch: z
          .array(
            z.strictObject({
              ...target,
              path: z.string().min(1).max(4096),
              /** The signal's name; the last part of the path when left out. */
              name: z.string().min(1).max(64).optional(),
            }),
          )
          .max(50)
          .default([]),
        limits: z
          .strictObject({
            /** Turns that signals may start within an hour, over all of them. */
            runsPerHour: z.number().int().min(0).max(1000).default(20),
            /** Signals of one name that are taken in within a minute. */
            perMinute: z.number().int().min(1).max(10_000).default(60),
            /** Notes that wait for the next turn of one session. */
            queued: z.number().int().min(1).max(100).default(20),
            /** Characters of a signal that are kept. */
            textMax: z.number().int().min(100).max(100_000).default(8_000),
            /** How long a question of a turn nobody watches waits for an answer before it is a no. */
            approvalMinutes: z.number().int().min(1).max(1440).default(30),
          })
          .prefault({}),
      })
      .prefault({}),
    heartbeat: z
      .strictObject({
        /** 0 is off; otherwise from 5 on. */
        everyMinutes: z
          .number()
          .int()
          .min(0)
          .max(10_080)
          .refine((minutes) => minutes === 0 || minutes >= 5, 'must be 0 for off, or at least 5')
          .default(30),
        /** From equal to to is the whole day. */
        activeHours: z.strictObject({ from: timeOfDay, to: timeOfDay, zone: zone.optional() }).optional(),
        agent: z.string().min(1).max(100).default('main'),
        /** The chat that is told: `last` is the one used last, `none` is none. */
        deliver: z.string().min(1).max(200).default('last'),
        ...narrowed,
      })
      .prefault({}),
  };
}
