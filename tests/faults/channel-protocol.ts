// The messages between the parent of a channel crash test and the process it kills.

import * as z from 'zod';
import type { ConfigInput } from '../../core/contracts/config.ts';

export const channelChildOptionsSchema = z.object({
  home: z.string(),
  /** The folder of the other side. */
  side: z.string(),
  /** The runtime validates it: a schema here would load the contracts a second time at each start. */
  config: z.custom<ConfigInput>(),
  /** Updates from 1 to this number are available. */
  updates: z.number().int(),
  point: z.string().nullable(),
  nth: z.number().int(),
  armedFromStart: z.boolean(),
});
export type ChannelChildOptions = z.infer<typeof channelChildOptionsSchema>;

export const channelReportSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['open', 'survived']) }),
  z.object({ kind: z.literal('dying'), point: z.string() }),
]);
export type ChannelReport = z.infer<typeof channelReportSchema>;
