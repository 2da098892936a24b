// The events of signals, all in the system session: what came in from outside, what was done about it. A part of the table in events.ts.

import * as z from 'zod';

export const signalSources = ['webhook', 'file', 'schedule', 'heartbeat', 'app'] as const;
export const signalSourceSchema = z.enum(signalSources);
export type SignalSource = z.infer<typeof signalSourceSchema>;

/**
 * observe: it is written down, nothing else. queue: the next turn of its session is told. run: a turn of its own.
 * interrupt: the running turn of its session is told at once, or a turn starts.
 */
export const attentionSchema = z.enum(['observe', 'queue', 'run', 'interrupt']);
export type Attention = z.infer<typeof attentionSchema>;

/** limited: there were too many. refused: a turn could not be started, `reason` says why. */
export const signalDispositionSchema = z.enum(['recorded', 'queued', 'run', 'steered', 'limited', 'refused']);
export type SignalDisposition = z.infer<typeof signalDispositionSchema>;

export const signalReceivedSchema = z.object({
  signalId: z.string(),
  source: signalSourceSchema,
  name: z.string(),
  /** A second signal of the same source and name with this key is the first one again. */
  dedupeKey: z.string(),
  text: z.string(),
  /** JSON as it came, cut. */
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
  /** Signals that waited for it were told to this turn. */
  'signal.delivered': z.object({ signalIds: z.array(z.string()), sessionId: z.string(), turnId: z.string() }),
} as const;
