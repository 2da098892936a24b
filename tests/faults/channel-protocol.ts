// The messages between the parent of a channel crash test and the process it kills.

import * as z from 'zod';
import { configSchema, type ConfigInput } from '../../core/contracts/config.ts';

export const channelChildOptionsSchema = z.object({
  home: z.string(),
  /** Folder of the other side. */
  side: z.string(),
  config: z.custom<ConfigInput>((value) => configSchema.safeParse(value).success),
  /** Updates 1 to this one are there to be fetched. */
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
