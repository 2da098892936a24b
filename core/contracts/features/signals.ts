// Signals: events from outside or from the clock. The settings of their sources, the events (all in the system session) and the operations.
// Used by events.ts, ops.ts and config.ts.

import * as z from 'zod';
import { agentName, defineOps, id, most } from '../define-ops.ts';
import { secretRefSchema } from '../secret-ref.ts';
import { narrowedSettings } from '../turn-bounds.ts';

export const signalSources = ['webhook', 'file', 'schedule', 'heartbeat', 'app'] as const;
export const signalSourceSchema = z.enum(signalSources);
export type SignalSource = z.infer<typeof signalSourceSchema>;

/**
 * observe: it is only recorded. queue: added to the next turn of its session. run: starts a separate turn. interrupt: added to the running
 * turn of its session at once, or starts a turn.
 */
export const attentionSchema = z.enum(['observe', 'queue', 'run', 'interrupt']);
export type Attention = z.infer<typeof attentionSchema>;

/** limited: there were too many. refused: no turn could be started; `reason` says why. */
export const signalDispositionSchema = z.enum(['recorded', 'queued', 'run', 'steered', 'limited', 'refused']);
export type SignalDisposition = z.infer<typeof signalDispositionSchema>;

export const signalReceivedSchema = z.object({
  signalId: z.string(),
  source: signalSourceSchema,
  name: z.string(),
  /** A signal with the same source, name and key counts as a repetition of this one. */
  dedupeKey: z.string(),
  text: z.string(),
  /** JSON as received, cut to the maximum length. */
  data: z.string().nullable(),
  attention: attentionSchema,
  disposition: signalDispositionSchema,
  sessionId: z.string().nullable(),
  turnId: z.string().optional(),
  reason: z.string().optional(),
});
export type SignalReceived = z.infer<typeof signalReceivedSchema>;

export const signalEvents = {
  'signal.received': signalReceivedSchema,
  /** Waiting signals were added to this turn. */
  'signal.delivered': z.object({ signalIds: z.array(z.string()), sessionId: z.string(), turnId: z.string() }),
} as const;

const target = {
  attention: attentionSchema.default('observe'),
  agent: agentName.optional(),
  /** The session of the signal; defaults to a separate one. */
  session: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/)
    .optional(),
  ...narrowedSettings,
};

export const signalsConfigSchema = z
  .strictObject({
    /** Keyed by name: POST /hooks/NAME. */
    webhooks: z
      .record(
        z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/),
        z.strictObject({
          ...target,
          secret: secretRefSchema,
          /** Without it, the sender sends the secret itself. */
          signature: z.enum(['standard', 'github']).optional(),
        }),
      )
      .default({}),
    /** Files and folders. A folder covers its direct entries. */
    watch: z
      .array(
        z.strictObject({
          ...target,
          path: z.string().min(1).max(4096),
          /** The signal's name; defaults to the last part of the path. */
          name: z.string().min(1).max(64).optional(),
        }),
      )
      .max(50)
      .default([]),
    limits: z
      .strictObject({
        /** The maximum number of turns that all signals together may start within an hour. */
        runsPerHour: z.number().int().min(0).max(1000).default(20),
        /** The maximum number of signals with one name that are accepted within a minute. */
        perMinute: z.number().int().min(1).max(10_000).default(60),
        /** The maximum number of signals that wait for the next turn of one session. */
        queued: z.number().int().min(1).max(100).default(20),
        /** The maximum number of characters of a signal that are kept. */
        textMax: z.number().int().min(100).max(100_000).default(8_000),
        /** How long an approval in an unattended turn waits before it is denied. */
        approvalMinutes: z.number().int().min(1).max(1440).default(30),
      })
      .prefault({}),
  })
  .prefault({});

/** The headers `webhook-id`, `webhook-timestamp` and `webhook-signature`, or those of Svix, and `x-hub-signature-256`. */
const hookSignatureSchema = z
  .strictObject({ id: z.string().max(200), timestamp: z.string().max(20), standard: z.string().max(2000), github: z.string().max(200) })
  .partial();
export type HookSignature = z.infer<typeof hookSignatureSchema>;

const signalViewSchema = signalReceivedSchema.extend({ seq: z.number().int(), atMs: z.number().int() });

export const signalOps = defineOps({
  /** Newest first. For the next page, `before` is the `seq` of the last signal. */
  'signal.list': {
    params: z.strictObject({
      source: signalSourceSchema.optional(),
      before: z.number().int().min(1).optional(),
      limit: z.number().int().min(1).max(200).optional(),
    }),
    result: z.object({ signals: z.array(signalViewSchema), nextBefore: z.number().int().nullable() }),
    about: 'list the signals, newest first',
    commands: {
      'signals list': {
        options: { source: 'of this kind only', limit: most, before: 'only signals before this place of the log' },
        example: '--source webhook --limit 5',
      },
    },
  },
  /** From an app or script of this user. Repeating a `dedupeKey` creates no second signal. */
  'signal.send': {
    params: z.strictObject({
      name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be a name of letters, digits, dots and dashes'),
      text: z.string().min(1).max(20_000),
      data: z.unknown().optional(),
      attention: attentionSchema.optional(),
      sessionId: id.optional(),
      agentId: agentName.optional(),
      dedupeKey: z.string().min(1).max(200).optional(),
    }),
    result: signalReceivedSchema.extend({ repeated: z.boolean() }),
    about: 'send a signal from this computer',
    commands: {
      'signals send': {
        takes: ['name', 'text...'],
        options: {
          attention: 'what the signal does',
          sessionId: 'the session it belongs to',
          agentId: 'the agent it goes to; main by default',
          data: 'JSON that goes with the signal',
          dedupeKey: { flag: 'key', about: 'a signal with the same key counts once' },
        },
        example: 'build The build failed. --data \'{"job":7}\'',
      },
    },
  },
  /** A request to POST /hooks/NAME. The HTTP server has checked only its size and rate. */
  'signal.hook': {
    params: z.strictObject({
      name: z.string().min(1).max(64),
      secret: z.string().max(1000),
      body: z.string().max(300_000),
      contentType: z.string().max(200).optional(),
      signature: hookSignatureSchema.optional(),
      dedupeKey: z.string().min(1).max(200).optional(),
    }),
    result: z.object({ signalId: z.string(), repeated: z.boolean() }),
    about: 'receive a webhook; `POST /hooks/NAME` calls it',
  },
});
