// The messages between the parent of a crash test and the process it kills.

import * as z from 'zod';
import type { ConfigInput } from '../../core/contracts/config.ts';

export const crashChildOptionsSchema = z.object({
  home: z.string(),
  /** The file outside the data folder in which effects are counted. */
  ledger: z.string(),
  /** The runtime validates it: a schema here would load the contracts a second time at each start. */
  config: z.custom<ConfigInput>(),
  /** The point at which to die, and at which visit; null to live until killed from outside. */
  point: z.string().nullable(),
  nth: z.number().int(),
  /** True to be armed during start and recovery as well; false to be armed from the first new job on. */
  armedFromStart: z.boolean(),
  firstJob: z.number().int(),
  jobs: z.number().int(),
  /** Which of done, retry and abandon is answered first. */
  firstAnswer: z.number().int(),
  /** Only events after this one are reported. */
  afterSeq: z.number().int(),
});
export type CrashChildOptions = z.infer<typeof crashChildOptionsSchema>;

const toldEvent = z.object({ seq: z.number(), sessionId: z.string(), sessionSeq: z.number(), type: z.string() });
export type ToldEvent = z.infer<typeof toldEvent>;

export const crashReportSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('open') }),
  toldEvent.extend({ kind: z.literal('event') }),
  z.object({ kind: z.literal('recovered'), unknown: z.array(z.string()) }),
  z.object({ kind: z.literal('still-unknown'), callId: z.string(), is: z.boolean() }),
  z.object({ kind: z.literal('accepted'), turnId: z.string(), job: z.number() }),
  z.object({ kind: z.enum(['answering', 'answered']), callId: z.string(), answer: z.enum(['done', 'retry', 'abandon']) }),
  z.object({ kind: z.literal('ended'), turnId: z.string(), status: z.string(), identical: z.boolean(), error: z.string() }),
  z.object({ kind: z.literal('dying'), point: z.string() }),
  z.object({ kind: z.literal('survived'), different: z.array(z.string()) }),
]);
export type CrashReport = z.infer<typeof crashReportSchema>;
